//! The kind Skill.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::names;
use crate::reference::KeyRef;

/// A text that teaches an agent something. Conversations name it; an edit takes effect on their next turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "thetis.dev",
    version = "v1alpha1",
    kind = "Skill",
    namespaced,
    shortname = "skill",
    category = "thetis",
    doc = "A text that teaches an agent something. Conversations name it; an edit takes effect on their next turn.",
    status = "Status",
    derive = "PartialEq",
    printcolumn(name = "Title", type_ = "string", json_path = ".spec.title"),
    printcolumn(name = "Description", type_ = "string", json_path = ".spec.description"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Digest", type_ = "string", priority = 1, json_path = ".status.digest"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(
    validation = Rule::new("has(self.instructions) != has(self.instructionsFrom)")
        .message("give exactly one of instructions and instructionsFrom")
)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// What people read in menus. Default: the object's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub title: Option<String>,
    /// One sentence: when it helps. Shown to people and to the agent.
    #[schemars(length(min = 1, max = 1024))]
    pub description: String,
    /// What the agent is taught. Markdown, at most 131,072 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 131_072))]
    pub instructions: Option<String>,
    /// Where the instructions are, in place of `instructions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions_from: Option<InstructionsFrom>,
}

/// Where a skill's instructions are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstructionsFrom {
    /// A key of a ConfigMap in the same namespace. An edit of it takes effect on the next turn.
    pub config_map_key_ref: KeyRef,
}

/// Whether it can be used; written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// Of the title, description and instructions that are in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = names::DIGEST))]
    pub digest: Option<String>,
    /// `Ready`: conversations can use it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
