//! Settings as the control plane resolved them and the runtime reads them: every default filled in, every reference
//! checked. What a person wrote in YAML is `crds`; nothing here has an optional field that means "the default".

use serde::{Deserialize, Serialize};

use crate::id::Digest;

/// A setting together with its name and the digest of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved<T> {
    /// The object's name.
    pub name: String,
    /// Of the JSON of `value`.
    pub digest: Digest,
    /// The setting.
    pub value: T,
}

/// What a conversation may do and how the agent is told to behave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// For people.
    pub title: String,
    /// Withholds every mutating tool, in the listing and again at dispatch.
    pub read_only: bool,
    /// Which tools, by name; none means all.
    pub tools: Option<Vec<String>>,
    /// Added to the system prompt; may be empty.
    pub instructions: String,
}

/// A text that teaches an agent something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// For people.
    pub title: String,
    /// One sentence: when it helps.
    pub description: String,
    /// Markdown.
    pub instructions: String,
}

/// A model and how it is reached. The key travels beside it, sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What the endpoint calls it, for example `anthropic/claude-opus-4.5`.
    pub wire_id: String,
    /// Up to and including the version, for example `https://openrouter.ai/api/v1`.
    pub base_url: String,
    /// Whether the endpoint wants a key; without one no Authorization header is sent.
    pub keyed: bool,
    /// Whose caching rules apply.
    pub cache: CacheVendor,
    /// Tokens of request and reply together.
    pub context_tokens: u64,
    /// The most that a reply may have, in tokens.
    pub output_tokens: u64,
    /// For the cost of a step where the provider does not state it.
    pub prices: Prices,
}

/// Whose prompt-caching rules a model follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheVendor {
    /// Explicit marks, at most four a request.
    Anthropic,
    /// By itself; nothing is sent.
    Implicit,
}

/// What tokens cost, in millionths of a US dollar per million tokens (which is also picodollars per token).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// A token of the request that no cache held.
    pub input: u64,
    /// A token that the cache held.
    pub cache_read: u64,
    /// A token that was written to the cache.
    pub cache_write: u64,
    /// A token of the reply.
    pub output: u64,
}

/// Bounds of one conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Model requests a turn may make.
    pub steps: u32,
    /// Of a turn from start to end, in seconds.
    pub turn_seconds: u32,
    /// Of one tool call, in seconds.
    pub tool_seconds: u32,
    /// Of the conversation's life, in picodollars; none means unbounded.
    pub spend: Option<u64>,
    /// Of one tool result as the model sees it, in bytes; more is cut in the middle and kept as a blob.
    pub output_bytes: u32,
    /// Of one user message, in bytes.
    pub message_bytes: u32,
}

impl Default for Limits {
    /// Twenty-five steps are CHECKLIST 32; an hour and five minutes are what long builds need; 64 KiB is about 16,000 tokens.
    fn default() -> Self {
        Self { steps: 25, turn_seconds: 3600, tool_seconds: 300, spend: None, output_bytes: 64 << 10, message_bytes: 256 << 10 }
    }
}

/// Which settings a conversation uses, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// A Mode.
    pub mode: String,
    /// A Model.
    pub model: String,
    /// Skills, in order.
    pub skills: Vec<String>,
    /// The agent aspect.
    pub agent: String,
    /// Its bounds.
    pub limits: Limits,
}

/// What an aspect's guest may reach, beyond what its world gives every guest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    /// The conversation's notes.
    pub notes: bool,
    /// Hosts that `wasi:http` may reach: exact names, `*.example.org`, each with an optional port. Empty: not linked.
    pub egress: Vec<String>,
}

/// The three kinds of aspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AspectKind {
    /// Runs turns.
    Agent,
    /// Serves people.
    Gateway,
    /// Answers calls.
    Tool,
}

impl AspectKind {
    /// As people read it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Gateway => "gateway",
            Self::Tool => "tool",
        }
    }
}
