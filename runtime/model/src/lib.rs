//! Talks to models: what goes over the wire, how the answer is put together again, and when to ask once more.
//!
//! Everything but [`client`] is pure. Knows OpenAI-compatible chat completions as OpenRouter, OpenAI and Anthropic behind
//! OpenRouter speak them; knows nothing of Postgres, wasm or where a key comes from.

mod assemble;
pub mod client;
pub mod reply;
pub mod request;
mod retry;
pub mod sse;
pub mod step;
pub mod wire;

pub use client::Client;
pub use reply::{Delta, Reply};
pub use request::Request;
