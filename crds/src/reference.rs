//! References to keys of core objects, always in the referring object's own namespace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;

/// One key of a Secret or a ConfigMap in the same namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyRef {
    /// The object's name.
    #[schemars(length(min = 1, max = names::OBJECT_MAX), regex(pattern = names::OBJECT))]
    pub name: String,
    /// The key within its data.
    #[schemars(length(min = 1, max = 253), regex(pattern = names::DATA_KEY))]
    pub key: String,
}
