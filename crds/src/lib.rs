//! The object kinds of `thetis.dev/v1alpha1`, one file each, with the schema that the Kubernetes API enforces and
//! `kubectl explain` prints. Pure data: no IO, no defaults that the schema does not state, no knowledge of the rows they
//! become. The chart `charts/thetis-crds` is generated from here by this crate's tests.

#![expect(clippy::duplicated_attributes, reason = "print columns repeat their type")]

pub mod aspect;
pub mod condition;
pub mod conversation;
pub mod definition;
pub mod mode;
pub mod model;
pub mod names;
pub mod quantity;
pub mod reference;
pub mod revision;
pub mod runtime;
pub mod skill;
pub mod snapshot;

pub use aspect::Aspect;
pub use condition::Condition;
pub use conversation::Conversation;
pub use mode::Mode;
pub use model::Model;
pub use revision::Revision;
pub use runtime::Runtime;
pub use skill::Skill;
pub use snapshot::Snapshot;

/// `apiVersion` and `kind` of every custom object, and its metadata.
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
