//! Guests that a real engine runs, compiled by the real compiling process: good ones, hostile ones, and what is left
//! after them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod artifacts;
mod aspects;
mod canary;
mod cancel;
mod fixture;
mod hostile;
mod imports;
mod notes;
