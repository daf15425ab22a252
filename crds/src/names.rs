//! Names that more than one place has to spell alike: the group, patterns of names, condition types. No behaviour.

/// The API group of every kind.
pub const GROUP: &str = "thetis.dev";

/// The one version that is served and stored.
pub const VERSION: &str = "v1alpha1";

/// `apiVersion` of every kind.
pub const API_VERSION: &str = "thetis.dev/v1alpha1";

/// The condition that sums up the others, on every kind that has conditions.
pub const READY: &str = "Ready";

/// An object's name: lower-case letters, digits, `-` and `.`, as Kubernetes has it. At most [`OBJECT_MAX`] characters.
pub const OBJECT: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// The longest name of an object.
pub const OBJECT_MAX: usize = 253;

/// A namespace's name, and that of anything that becomes a label: no dots, at most [`LABEL_MAX`] characters.
pub const LABEL: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

/// The longest name that fits a label.
pub const LABEL_MAX: usize = 63;

/// A tool's name as a model calls it.
pub const TOOL: &str = r"^[A-Za-z0-9_-]{1,64}$";

/// A key within a Secret or a ConfigMap.
pub const DATA_KEY: &str = r"^[-._a-zA-Z0-9]+$";

/// SHA-256 of some content.
pub const DIGEST: &str = r"^sha256:[0-9a-f]{64}$";

/// A path within a source tree: relative, `/` between parts, and no part begins with a dot.
pub const SOURCE_PATH: &str = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$";

/// An amount of US dollars as a decimal, exact to a millionth.
pub const DOLLARS: &str = r"^[0-9]{1,7}(\.[0-9]{1,6})?$";
