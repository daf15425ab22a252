//! The trusted kernel: it hosts guests and runs turns. This crate knows nothing of Kubernetes.

pub mod artifact;
pub mod bindings;
pub mod engine;
pub mod guest;
pub mod host;
pub mod ingress;
pub mod kernel;
pub mod limits;
pub mod register;
pub mod turn;
pub mod worker;
