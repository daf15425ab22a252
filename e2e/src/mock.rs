//! A model endpoint for tests and demos. It speaks what OpenRouter, OpenAI and Anthropic behind OpenRouter send, refuses what
//! they refuse, bills what they would bill, and answers by a script.
//!
//! What to say is decided without IO (`ask` reads a request, `plan` decides, `speak` words it); `server` only carries bytes.

pub mod ask;
pub mod bill;
pub mod plan;
pub mod script;
pub mod server;
pub mod speak;

pub use script::Script;
pub use server::{Options, Server};
