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
//! declaration, so the two cannot drift. A guest has no files, no environment and no sockets; what else it may reach is
//! what its Aspect grants.

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
