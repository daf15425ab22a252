//! The kind Runtime.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::names;
use crate::quantity::Quantity;

/// A pool of pods that run the turns of conversations. Without effect on one machine, where the one process is the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "thetis.dev",
    version = "v1alpha1",
    kind = "Runtime",
    namespaced,
    shortname = "rt",
    category = "thetis",
    doc = "A pool of pods that run the turns of conversations. Without effect on one machine, where the one process is the pool.",
    status = "Status",
    derive = "PartialEq",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    validation = Rule::new("size(self.metadata.name) <= 52").message("a runtime's name has at most 52 characters"),
    printcolumn(name = "Replicas", type_ = "integer", json_path = ".spec.replicas"),
    printcolumn(name = "Available", type_ = "integer", json_path = ".status.availableReplicas"),
    printcolumn(name = "Conversations", type_ = "integer", json_path = ".status.conversations"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Image", type_ = "string", priority = 1, json_path = ".status.image"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// How many pods. Default: 1. Fewer pods than before: those that stop hand their turns over to the others.
    #[serde(default = "default_replicas")]
    #[schemars(range(min = 0, max = 1000))]
    pub replicas: i32,
    /// The image of the pods. Default: the one that the operator was installed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = r"^[!-~]+$"))]
    pub image: Option<String>,
    /// What each pod asks for and may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Bounds on the work of each pod.
    #[serde(default)]
    pub limits: Limits,
    /// Namespaces whose conversations it serves beside its own; `*`, alone, for every namespace that the operator watches.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        inner(length(min = 1, max = names::LABEL_MAX), regex(pattern = r"^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$")),
        extend("x-kubernetes-list-type" = "set")
    )]
    #[x_kube(validation = Rule::new("!('*' in self) || size(self) == 1").message("* stands alone"))]
    pub namespaces: Vec<String>,
}

/// What a pod asks for and may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Resources {
    /// What the scheduler sets aside for it.
    pub requests: Amounts,
    /// The most that it may use.
    pub limits: Amounts,
}

/// Amounts of the two resources that a runtime uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Amounts {
    /// Processor cores, for example `2` or `500m`. Default: the operator's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Quantity>,
    /// Memory, for example `1Gi`. Default: the operator's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
}

/// Bounds on the work of one pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Turns that a pod runs at once; more wait. Default: 256.
    #[schemars(range(min = 1, max = 10000))]
    pub turns: i32,
}

/// How the pool is; written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// Pods that there are.
    #[schemars(range(min = 0))]
    pub replicas: i32,
    /// Pods that take turns.
    #[schemars(range(min = 0))]
    pub available_replicas: i32,
    /// Which pods are its own, for the scale subresource.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub selector: Option<String>,
    /// The image that the pods run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub image: Option<String>,
    /// Conversations with a turn in one of its pods.
    #[schemars(range(min = 0))]
    pub conversations: i32,
    /// `Ready`: as many pods take turns as the object asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { turns: 256 }
    }
}

const fn default_replicas() -> i32 {
    1
}
