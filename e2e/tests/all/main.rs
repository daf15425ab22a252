//! Checks over real HTTP, in one binary.
#![expect(clippy::unwrap_used, reason = "a check that cannot be set up has failed")]

mod hostile;
mod mock;
mod model;
mod turns;
