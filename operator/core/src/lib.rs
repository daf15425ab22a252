//! From objects to what the runtime reads: every default filled in, every reference checked, every mistake named with its
//! object and field. Pure: no client, no files, no clock. The operator calls it for what the Kubernetes API holds, the
//! one-machine deployment for what a folder holds.

pub mod aspect;
pub mod conversation;
pub mod dollars;
pub mod mode;
pub mod model;
pub mod objects;
pub mod problem;
pub mod resolve;
pub mod skill;

pub use aspect::DeclaredAspect;
pub use conversation::DeclaredConversation;
pub use objects::Objects;
pub use problem::{Kind, Problem, What};
pub use resolve::{Resolved, SettingsSet, resolve};
