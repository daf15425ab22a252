//! Scenarios on real processes: `thetis local` with its private Postgres and its wasm guests, and the mock model. They need
//! what `make test` builds first: the program `thetis` and the components in aspects/target/components.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a scenario says what went wrong by panicking"
)]
#![expect(clippy::print_stdout, reason = "what a process logs belongs into a failed scenario's output")]

mod machine;

mod crash;
mod edits;
mod refusals;
mod turns;
