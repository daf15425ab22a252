//! The kind Mode.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::names;

/// What an agent may do and how it is told to behave. Conversations name it; an edit takes effect on their next turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "thetis.dev",
    version = "v1alpha1",
    kind = "Mode",
    namespaced,
    shortname = "mode",
    category = "thetis",
    doc = "What an agent may do and how it is told to behave. Conversations name it; an edit takes effect on their next turn.",
    status = "Status",
    derive = "PartialEq",
    printcolumn(name = "Title", type_ = "string", json_path = ".spec.title"),
    printcolumn(name = "Read only", type_ = "boolean", json_path = ".spec.readOnly"),
    printcolumn(name = "Conversations", type_ = "integer", json_path = ".status.conversations"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// What people read in menus. Default: the object's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub title: Option<String>,
    /// Withholds every tool that changes something outside the log: the model is not told of it, and a call to it is
    /// refused. Default: false.
    #[serde(default)]
    pub read_only: bool,
    /// Which tools the agent sees.
    #[serde(default)]
    pub tools: Tools,
    /// Added to the system prompt. Markdown, at most 65,536 characters. Default: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 65536))]
    pub instructions: String,
}

/// Which tools the agent sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Tools {
    /// Names of tools, as the model calls them. Any other tool is withheld. Default: all tools; an empty list withholds
    /// every tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 256),
        inner(length(min = 1, max = 64), regex(pattern = names::TOOL)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub allow: Option<Vec<String>>,
}

/// Whether it can be used and who uses it; written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// Conversations that use it.
    #[schemars(range(min = 0))]
    pub conversations: i32,
    /// `Ready`: conversations can use it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
