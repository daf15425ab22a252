//! The kind Aspect.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::names;

/// A WebAssembly component that the system runs: an agent's loop, a gateway for people, or a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "thetis.dev",
    version = "v1alpha1",
    kind = "Aspect",
    namespaced,
    shortname = "asp",
    category = "thetis",
    doc = "A WebAssembly component that the system runs: an agent's loop, a gateway for people, or a tool.",
    status = "Status",
    derive = "PartialEq",
    validation = Rule::new("size(self.metadata.name) <= 52").message("an aspect's name has at most 52 characters"),
    printcolumn(name = "Kind", type_ = "string", json_path = ".spec.kind"),
    printcolumn(name = "Active", type_ = "integer", json_path = ".status.activeRevision"),
    printcolumn(name = "Desired", type_ = "integer", json_path = ".status.desiredRevision"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Egress", type_ = "string", priority = 1, json_path = ".spec.grants.egress"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// `Agent`: runs turns. `Gateway`: serves people. `Tool`: answers calls. It cannot change.
    #[x_kube(validation = Rule::new("self == oldSelf").message("an aspect's kind cannot change; make another aspect"))]
    pub kind: Kind,
    /// Where its code comes from.
    pub source: Source,
    /// What it may reach beyond what every aspect of its kind may. Default: nothing.
    #[serde(default)]
    pub grants: Grants,
    /// The number of the revision to run, whatever was built since. Default: the newest that was found good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub pin: Option<i32>,
    /// What agents may do to its code. `Forbidden`: nothing. `Branch` (the default): a change runs in the conversation that
    /// made it, until somebody promotes it. `Direct`: a change becomes active for the whole namespace.
    #[serde(default)]
    pub self_modification: SelfModification,
}

/// What the component does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Kind {
    /// Runs turns.
    Agent,
    /// Serves people.
    Gateway,
    /// Answers calls.
    Tool,
}

/// Where an aspect's code comes from. Give exactly one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[x_kube(
    validation = Rule::new(
        "(has(self.builtin) ? 1 : 0) + (has(self.inline) ? 1 : 0) + (has(self.configMap) ? 1 : 0) + (has(self.git) ? 1 : 0) == 1"
    ).message("give exactly one of builtin, inline, configMap and git")
)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// A component that comes with this release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<Builtin>,
    /// A Rust source tree, written here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<Inline>,
    /// A Rust source tree in a ConfigMap of the same namespace; `__` in a key stands for `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapSource>,
    /// A Rust source tree in a Git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
}

/// A component that comes with this release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Builtin {
    /// Its name: the kind and what it is called, for example `agent-core` or `tool-fetch`.
    #[schemars(length(min = 1, max = names::LABEL_MAX), regex(pattern = names::LABEL))]
    pub name: String,
}

/// A source tree, written here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inline {
    /// Its files.
    #[schemars(length(min = 1, max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["path"]))]
    pub files: Vec<File>,
}

/// One file of a source tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct File {
    /// Relative to the tree's root, for example `src/lib.rs`. No part may begin with a dot.
    #[schemars(length(min = 1, max = 255), regex(pattern = names::SOURCE_PATH))]
    pub path: String,
    /// What it holds, at most 65,536 characters.
    #[schemars(length(max = 65536))]
    pub content: String,
}

/// A source tree in a ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigMapSource {
    /// The name of the ConfigMap.
    #[schemars(length(min = 1, max = names::OBJECT_MAX), regex(pattern = names::OBJECT))]
    pub name: String,
}

/// A source tree in a Git repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Git {
    /// Where the repository is.
    #[schemars(length(min = 1, max = 2048), regex(pattern = r"^https://[!-~]+$"))]
    pub url: String,
    /// The commit, in full: 40 hex digits. A branch is not accepted, so that the object says what runs.
    #[schemars(length(min = 40, max = 40), regex(pattern = r"^[0-9a-f]{40}$"))]
    pub commit: String,
    /// The folder of the tree within the repository. Default: the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255), regex(pattern = names::SOURCE_PATH))]
    pub path: Option<String>,
}

/// What an aspect may reach beyond what every aspect of its kind may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Grants {
    /// The conversation's notes, to read and to write. Default: false.
    pub notes: bool,
    /// Hosts that it may send HTTP requests to: `example.org`, `example.org:8443`, or `*.example.org` for every host below
    /// it. Without a port: 443 for https and 80 for http. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = 260), regex(pattern = names::HOST)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub egress: Vec<String>,
}

/// What agents may do to an aspect's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SelfModification {
    /// Nothing.
    Forbidden,
    /// A change runs in the conversation that made it until it is promoted.
    #[default]
    Branch,
    /// A change becomes active for the whole namespace.
    Direct,
}

/// What of it runs; written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// The revision that new calls run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub active_revision: Option<i32>,
    /// The revision that the object asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub desired_revision: Option<i32>,
    /// The newest revision that was found good.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub latest_validated: Option<i32>,
    /// `Ready`: a revision is active and it is the desired one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
