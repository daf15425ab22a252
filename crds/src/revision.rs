//! The kind Revision.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::names;

/// One version of an aspect: its whole source and the component built from it. Written by the operator; never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "thetis.dev",
    version = "v1alpha1",
    kind = "Revision",
    namespaced,
    shortname = "rev",
    category = "thetis",
    doc = "One version of an aspect: its whole source and the component built from it. Written by the operator; never changes.",
    status = "Status",
    derive = "PartialEq",
    printcolumn(name = "Aspect", type_ = "string", json_path = ".spec.aspect"),
    printcolumn(name = "Number", type_ = "integer", json_path = ".spec.number"),
    printcolumn(name = "Origin", type_ = "string", json_path = ".spec.origin"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Component", type_ = "string", priority = 1, json_path = ".spec.component"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(
    validation = Rule::new(
        "self.aspect == oldSelf.aspect && self.number == oldSelf.number && self.origin == oldSelf.origin \
         && has(self.source) == has(oldSelf.source) && (!has(self.source) || self.source == oldSelf.source) \
         && has(self.by) == has(oldSelf.by) && (!has(self.by) || self.by == oldSelf.by)"
    ).message("a revision never changes"),
    validation = Rule::new(
        "!has(oldSelf.component) || (has(self.component) && self.component == oldSelf.component)"
    ).message("a revision's component is set once and never changes")
)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// Name of the Aspect.
    #[schemars(length(min = 1, max = names::LABEL_MAX), regex(pattern = names::LABEL))]
    pub aspect: String,
    /// Its number within the aspect, from 1.
    #[schemars(range(min = 1))]
    pub number: i32,
    /// Digest of the source tree; none for a component that comes with the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = names::DIGEST))]
    pub source: Option<String>,
    /// Digest of the component; none until it is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = names::DIGEST))]
    pub component: Option<String>,
    /// What brought it about. `Spec`: the Aspect object. `Agent`: an agent changed the code. `Rollback`: an older revision
    /// was brought back.
    pub origin: Origin,
    /// Who: the conversation's name, or the person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub by: Option<String>,
}

/// What brought a revision about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Origin {
    /// The Aspect object.
    Spec,
    /// An agent changed the code.
    Agent,
    /// An older revision was brought back.
    Rollback,
}

/// How far it came; written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// How far it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// What the compiler or the validation said, its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub verdict: Option<String>,
    /// `Ready`: it was found good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// How far a revision came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// It waits for a builder.
    Pending,
    /// It is being built.
    Building,
    /// There is a component; nobody has looked at it yet.
    Built,
    /// It was found good and may run.
    Validated,
    /// It did not build or was found bad; it never runs.
    Rejected,
}
