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

/// The longest name of a Conversation, which becomes a label and a part of addresses.
pub const CONVERSATION_MAX: usize = 63;

/// The longest name of an Aspect or a Runtime, from which longer names are made.
pub const STEM_MAX: usize = 52;

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

/// Where an endpoint is: scheme, host, perhaps a port and a path, no slash at the end.
pub const BASE_URL: &str = r"^https?://[A-Za-z0-9._:\[\]-]+(/[A-Za-z0-9._~%-]+)*$";

/// A host, perhaps with `*.` before it and a port after it.
pub const HOST: &str = r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[0-9]{1,5})?$";

/// What a pattern of this file asks for, as people say it: `"Sums" is not …`.
#[must_use]
pub fn in_words(pattern: &str) -> Option<&'static str> {
    Some(match pattern {
        OBJECT => "a name: lower-case letters, digits, - and . with a letter or digit at both ends",
        LABEL => "a name: lower-case letters, digits and - with a letter or digit at both ends",
        TOOL => "the name of a tool: at most 64 letters, digits, _ and -",
        DATA_KEY => "a key of a Secret or ConfigMap: letters, digits, -, _ and .",
        DIGEST => "a digest: sha256: and 64 lower-case hex digits",
        SOURCE_PATH => "a path within a source tree, such as src/lib.rs",
        DOLLARS => "an amount of US dollars such as \"3\" or \"0.15\", exact to a millionth",
        BASE_URL => "a base URL such as https://openrouter.ai/api/v1, without a slash at the end",
        HOST => "a host such as example.org, *.example.org or example.org:8443",
        _ => return None,
    })
}
