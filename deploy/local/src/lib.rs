//! Thetis on one machine: reads the objects from a folder instead of the Kubernetes API, starts a private Postgres, and runs
//! the same runtime that a pod runs. Also the commands that ask a running Thetis over HTTP.

pub mod client;
pub mod command;
pub mod documents;
pub mod local;
