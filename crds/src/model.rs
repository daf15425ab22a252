//! The kind Model.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::names;
use crate::reference::KeyRef;

/// A language model and how it is reached. Conversations name it; an edit, also of its key, takes effect on their next turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "thetis.dev",
    version = "v1alpha1",
    kind = "Model",
    namespaced,
    shortname = "model",
    category = "thetis",
    doc = "A language model and how it is reached. Conversations name it; an edit, also of its key, takes effect on their next turn.",
    status = "Status",
    derive = "PartialEq",
    printcolumn(name = "Id", type_ = "string", json_path = ".spec.id"),
    printcolumn(name = "Endpoint", type_ = "string", json_path = ".spec.baseURL"),
    printcolumn(name = "Context", type_ = "integer", json_path = ".spec.contextTokens"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(
    validation = Rule::new("!has(self.outputTokens) || self.outputTokens < self.contextTokens")
        .message("outputTokens has to be less than contextTokens, which counts request and reply together")
)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// How the endpoint is spoken to. `OpenAICompatible` (the default): chat completions with streaming, as OpenAI,
    /// OpenRouter, vLLM and many others serve them.
    #[serde(default)]
    pub provider: Provider,
    /// What the endpoint calls the model, for example `anthropic/claude-opus-4.5`.
    #[schemars(length(min = 1, max = 256), regex(pattern = r"^[!-~]+$"))]
    pub id: String,
    /// Where the endpoint is, up to and including the version, without a slash at the end. Default:
    /// `https://openrouter.ai/api/v1`.
    #[serde(default = "default_base_url", rename = "baseURL")]
    #[schemars(length(min = 1, max = 2048), regex(pattern = names::BASE_URL))]
    pub base_url: String,
    /// The key that requests carry. Default: none, and no Authorization header is sent; for openrouter.ai on one machine,
    /// the environment variable `OPENROUTER_API_KEY`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// What tokens cost, for a provider that does not report the cost of a request itself. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// Whose prompt-caching rules apply. `Anthropic`: requests carry cache marks. `Implicit`: the provider caches by itself.
    /// Default: Anthropic where `id` begins with `anthropic/` or `claude`, else Implicit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Tokens of a request and its reply together. Default: 128000.
    #[serde(default = "default_context_tokens")]
    #[schemars(range(min = 1024, max = 100_000_000))]
    pub context_tokens: i32,
    /// The longest reply, in tokens. Default: 8192, or half of `contextTokens` where that is less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 10_000_000))]
    pub output_tokens: Option<i32>,
}

/// How an endpoint is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Provider {
    /// Chat completions with streaming.
    #[default]
    #[serde(rename = "OpenAICompatible")]
    OpenAiCompatible,
}

/// Where the key is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// A key of a Secret in the same namespace. A changed one is used from the next request on.
    pub secret_key_ref: KeyRef,
}

/// US dollars per million tokens, as decimals: `"3"`, `"0.15"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// A million tokens of requests.
    #[schemars(length(max = 14), regex(pattern = names::DOLLARS))]
    pub input: String,
    /// A million tokens of replies.
    #[schemars(length(max = 14), regex(pattern = names::DOLLARS))]
    pub output: String,
    /// A million tokens of requests that the provider's cache held. Default: as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 14), regex(pattern = names::DOLLARS))]
    pub cache_read: Option<String>,
    /// A million tokens of requests that were written to the provider's cache. Default: as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 14), regex(pattern = names::DOLLARS))]
    pub cache_write: Option<String>,
}

/// Whose prompt-caching rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Cache {
    /// Requests carry cache marks.
    Anthropic,
    /// The provider caches by itself.
    Implicit,
}

/// Whether it can be used; written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// `Ready`: conversations can use it. It says nothing about the endpoint, which nobody asks until a turn does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

fn default_base_url() -> String {
    "https://openrouter.ai/api/v1".into()
}

const fn default_context_tokens() -> i32 {
    128_000
}
