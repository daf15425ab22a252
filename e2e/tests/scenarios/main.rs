//! Scenarios on real processes: `thetis local` with its private Postgres and its wasm guests, and the mock model. They need
//! what `make test` builds first: the program `thetis` and the components in aspects/target/components.

mod machine;

mod crash;
mod edits;
mod refusals;
mod turns;
