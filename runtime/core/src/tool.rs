//! What the host knows of a tool, whoever wrote it. Pure data and its bounds.

use serde::{Deserialize, Serialize};

/// The tool whose latest result is the agent's list of what is to do: never compacted away.
pub const TODO: &str = "TodoWrite";

/// A tool as its component declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What the model calls it by: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub input_schema: serde_json::Value,
    /// Changes something outside the conversation; read-only modes withhold it.
    pub mutating: bool,
    /// May run beside its neighbours in the same message.
    pub parallel: bool,
    /// What happens to a call that a dead process left without a result.
    pub replay: Replay,
}

/// What the host does with a call whose result was never logged because the process died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Replay {
    /// Run again.
    Safe,
    /// Run again with the same idempotency key.
    Keyed,
    /// Never again: answered as interrupted.
    Unsafe,
}
