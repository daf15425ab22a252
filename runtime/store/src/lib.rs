//! What Thetis remembers: conversations and their logs, leases, settings, the registry, notes and blobs in Postgres; hints
//! beside it. The only SQL of the project is here. Knows nothing of guests, models or Kubernetes.
//!
//! Three rules hold everywhere. An append names the epoch of its claim, and the same statement that writes checks it. Time is
//! the database's, never this machine's. Whatever the database did not confirm is reported as [`Fault::Unavailable`], which
//! says "unknown", not "no": look before trying again.

mod column;
pub mod conversation;
mod fault;
pub mod lease;
pub mod log;
pub mod open;
pub mod seal;

pub use conversation::Conversation;
pub use fault::Fault;
pub use open::Store;
