//! What the author of a guest needs: the bindings of `wit/`, generated here and nowhere else, under a typed surface.
//!
//! A whole tool:
//!
//! ```
//! use thetis_sdk::tool::{Call, Facts, Tool};
//!
//! thetis_sdk::arguments! {
//!     /// Whom to greet.
//!     struct Arguments {
//!         /// A person's name.
//!         name: String,
//!         /// Adds an exclamation mark.
//!         loud: Option<bool>,
//!     }
//! }
//!
//! struct Greet;
//!
//! impl Tool for Greet {
//!     type Arguments = Arguments;
//!     const FACTS: Facts = Facts::pure("greet", "Says hello to somebody.");
//!
//!     fn call(arguments: Arguments, _call: &Call) -> Result<String, String> {
//!         let mark = if arguments.loud == Some(true) { "!" } else { "." };
//!         Ok(format!("Hello, {}{mark}", arguments.name))
//!     }
//! }
//!
//! thetis_sdk::export_tool!(Greet);
//! ```
//!
//! The doc comments become the JSON Schema that the model is shown, and what the model sends is checked against the same
//! declaration, so the two cannot drift. Arguments that do not fit never reach `call`: the model is told what is wrong with
//! them. `call` itself returns text for the model either way; an `Err` is shown as a failure. A panic ends the call as
//! trapped, and its message is kept for people.
//!
//! A call runs in an instance of its own: nothing stays in memory from one call to the next. A guest has no files, no
//! environment, no arguments and no sockets, but clocks and random numbers, and standard output for people who debug it.
//! [`tool::notes`] and [`http`] need a grant of the Aspect; a component that uses them without one does not go live.
//!
//! The tool's facts say what may happen to a call: [`tool::Facts::pure`] for what changes nothing, [`tool::Facts::mutating`]
//! for what does. Where the world outside takes an idempotency key, hand it [`tool::Call::idempotency_key`] and declare
//! `replay: Replay::Keyed`; then a call that a crash interrupted is run again instead of given up.
//!
//! Start from `aspects/template`; a tool of this repository is a folder under `aspects/tools`, and `aspects/build` makes
//! `tool-<folder>.wasm` of it. Keep what can be tested without a host in functions of its own: `cargo test` in `aspects/`
//! runs their tests on this machine. An agent is made the same way, from [`agent::Agent`].

#[cfg(test)]
extern crate self as thetis_sdk;

pub mod agent;
pub mod http;
pub mod schema;
pub mod tool;

/// Makes the component out of a type that implements [`agent::Agent`].
pub use agent::bindings::export_agent;
/// Makes the component out of a type that implements [`tool::Tool`].
pub use tool::bindings::export_tool;

#[doc(hidden)]
pub use serde;
