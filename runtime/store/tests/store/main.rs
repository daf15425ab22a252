//! The store against a real Postgres.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test says what went wrong by panicking")]

mod appending;
mod conversations;
mod database;
mod keeping;
mod leasing;
