//! What Thetis remembers: conversations and their logs, leases, settings, the registry, notes and blobs in Postgres; hints
//! beside it. The only SQL of the project is here. Knows nothing of guests, models or Kubernetes.
//!
//! Three rules hold everywhere. An append names the epoch of its claim, and the same statement that writes checks it. Time is
//! the database's, never this machine's. Whatever the database did not confirm is reported as [`Fault::Unavailable`], which
//! says "unknown", not "no": look before trying again.

pub mod blob;
mod column;
pub mod conversation;
mod fault;
pub mod hint;
pub mod lease;
pub mod log;
pub mod note;
pub mod open;
pub mod registry;
pub mod seal;
pub mod settings;

pub use conversation::Conversation;
pub use fault::Fault;
pub use hint::{Hint, Hints};
pub use open::Store;
