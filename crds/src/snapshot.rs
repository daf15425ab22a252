//! The kind Snapshot.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;

/// Which revision every aspect of the namespace ran at a moment. Written by the operator at each activation; never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "thetis.dev",
    version = "v1alpha1",
    kind = "Snapshot",
    namespaced,
    shortname = "snap",
    category = "thetis",
    doc = "Which revision every aspect of the namespace ran at a moment. Written by the operator at each activation; never changes.",
    derive = "PartialEq",
    printcolumn(name = "Taken", type_ = "date", json_path = ".spec.takenAt"),
    printcolumn(name = "Aspect", type_ = "string", json_path = ".spec.activated"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(validation = Rule::new("self == oldSelf").message("a snapshot never changes"))]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// When it was taken.
    pub taken_at: Time,
    /// Name of the Aspect whose activation it was taken at.
    #[schemars(length(min = 1, max = names::LABEL_MAX), regex(pattern = names::LABEL))]
    pub activated: String,
    /// Every aspect and what it ran.
    #[schemars(length(max = 512), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["aspect"]))]
    pub revisions: Vec<Ran>,
}

/// What one aspect ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ran {
    /// Name of the Aspect.
    #[schemars(length(min = 1, max = names::LABEL_MAX), regex(pattern = names::LABEL))]
    pub aspect: String,
    /// Number of the revision.
    #[schemars(range(min = 1))]
    pub revision: i32,
}
