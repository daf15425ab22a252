//! The store against a real Postgres.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test says what went wrong by panicking")]

mod appending;
mod conversations;
mod database;
mod hinting;
mod keeping;
mod leasing;
mod outage;
