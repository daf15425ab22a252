//! A condition as every kind's status carries it. Like the one of Kubernetes, with bounds on its strings.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One aspect of the object's state, and since when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about, for example `Ready`.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[A-Z][A-Za-z0-9]*$"))]
    pub kind: String,
    /// Whether it holds.
    pub status: Truth,
    /// The `metadata.generation` that was looked at. Older than the object's: not looked at yet.
    #[schemars(range(min = 0))]
    pub observed_generation: i64,
    /// When `status` last changed.
    pub last_transition_time: Time,
    /// Why, as one word for programs.
    #[schemars(length(min = 1, max = 128), regex(pattern = r"^[A-Z][A-Za-z0-9]*$"))]
    pub reason: String,
    /// Why, as a sentence for people.
    #[serde(default)]
    #[schemars(length(max = 2048))]
    pub message: String,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not.
    False,
    /// Nobody knows yet.
    Unknown,
}
