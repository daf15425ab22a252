//! The kind Conversation.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::names;

/// One append-only log of messages and tool calls with one agent working in it. Applying it starts the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[kube(
    group = "thetis.dev",
    version = "v1alpha1",
    kind = "Conversation",
    namespaced,
    shortname = "conv",
    category = "thetis",
    doc = "One append-only log of messages and tool calls with one agent working in it. Applying it starts the agent.",
    status = "Status",
    derive = "PartialEq",
    validation = Rule::new("size(self.metadata.name) <= 63").message("a conversation's name has at most 63 characters"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Mode", type_ = "string", json_path = ".status.effective.mode"),
    printcolumn(name = "Model", type_ = "string", json_path = ".status.effective.model"),
    printcolumn(name = "Turns", type_ = "integer", json_path = ".status.turns"),
    printcolumn(name = "Last turn", type_ = "string", json_path = ".status.lastTurn.status"),
    printcolumn(name = "Cost", type_ = "string", json_path = ".status.usage.costUSD"),
    printcolumn(name = "Ready", type_ = "string", priority = 1, json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Agent", type_ = "string", priority = 1, json_path = ".spec.agent"),
    printcolumn(name = "Revision", type_ = "integer", priority = 1, json_path = ".status.agentRevision"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(
    validation = Rule::new(
        "has(self.prompt) == has(oldSelf.prompt) && (!has(self.prompt) || self.prompt == oldSelf.prompt)"
    ).message("the opening prompt is the first entry of the log and cannot change; send a message instead")
)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// The first message to the agent: applying the object starts a turn on it. Without one the conversation waits for a
    /// message. At most 65,536 characters. It cannot change later: send a message instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 65536))]
    pub prompt: Option<String>,
    /// Name of the Mode: which tools the agent sees and how it is told to behave. Default: `agent`. An edit takes effect on
    /// the next turn.
    #[serde(default = "default_mode")]
    #[schemars(length(min = 1, max = names::OBJECT_MAX), regex(pattern = names::OBJECT))]
    pub mode: String,
    /// Name of the Model that answers. Default: `default`. An edit takes effect on the next turn.
    #[serde(default = "default_model")]
    #[schemars(length(min = 1, max = names::OBJECT_MAX), regex(pattern = names::OBJECT))]
    pub model: String,
    /// Names of the Skills whose instructions the agent is given, in this order. Default: none. An edit takes effect on
    /// the next turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 32),
        inner(length(min = 1, max = names::OBJECT_MAX), regex(pattern = names::OBJECT)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub skills: Vec<String>,
    /// Name of the Aspect of kind Agent that runs the turns. Default: `agent`. An edit takes effect on the next turn.
    #[serde(default = "default_agent")]
    #[schemars(length(min = 1, max = names::LABEL_MAX), regex(pattern = names::LABEL))]
    pub agent: String,
    /// Name of the Runtime whose pods run the turns. Default: any that serves this namespace. Without effect on one machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = names::LABEL_MAX), regex(pattern = names::LABEL))]
    pub runtime: Option<String>,
    /// Bounds on what the conversation may use.
    #[serde(default)]
    pub limits: Limits,
    /// `Running` (the default): messages start turns. `Suspended`: a turn that runs is finished, messages wait until the
    /// conversation is set to Running again.
    #[serde(default)]
    pub operating_mode: OperatingMode,
    /// What happens to the log when this object is deleted.
    #[serde(default)]
    pub retention: Retention,
}

/// Bounds on what the conversation may use. A bound that is reached ends the turn as failed or cuts the text, never more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Model requests that one turn may make. Default: 25.
    #[schemars(range(min = 1, max = 1000))]
    pub steps: i32,
    /// Length of one turn in seconds, tool calls included. Default: 3600 (an hour).
    #[schemars(range(min = 1, max = 86400))]
    pub turn_seconds: i32,
    /// Length of one tool call in seconds; the turn's length bounds it, too. Default: 300 (five minutes).
    #[schemars(range(min = 1, max = 86400))]
    pub tool_seconds: i32,
    /// What the conversation may cost in its whole life, in US dollars, for example `"5"` or `"0.25"`. Default: no bound.
    #[serde(rename = "spendUSD", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 14), regex(pattern = names::DOLLARS))]
    pub spend_usd: Option<String>,
    /// The part of one tool result that the model is shown, in bytes; a longer one is cut in the middle and kept whole
    /// beside the log. Default: 65536.
    #[schemars(range(min = 1024, max = 1_048_576))]
    pub output_bytes: i32,
    /// The longest message to the agent, in bytes; a longer one is refused. Default: 262144.
    #[schemars(range(min = 1024, max = 4_194_304))]
    pub message_bytes: i32,
}

/// Whether messages start turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OperatingMode {
    /// Messages start turns.
    #[default]
    Running,
    /// Messages wait.
    Suspended,
}

/// What happens to the log when the object is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Retention {
    /// `Retain` (the default): the log stays in the database, and an object of the same name and namespace gets a new log.
    /// `Delete`: the log goes with the object, for good.
    pub on_delete: OnDelete,
}

/// What happens to the log when the object is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OnDelete {
    /// The log stays.
    #[default]
    Retain,
    /// The log goes.
    Delete,
}

/// What the conversation is doing; written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// What it does now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Turns that have ended.
    #[schemars(range(min = 0))]
    pub turns: i32,
    /// How the last one ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_turn: Option<LastTurn>,
    /// What all turns used together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the next turn runs with: the declared values, or what a person picked since they were last edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective: Option<Effective>,
    /// The revision of the agent that the last turn ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub agent_revision: Option<i32>,
    /// Where a browser finds it.
    #[serde(rename = "url", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub url: Option<String>,
    /// `Ready`: everything it names exists and its turns can run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// What a conversation is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// Something that it names is missing.
    Pending,
    /// It waits for a message.
    Idle,
    /// A turn runs, or is about to.
    Running,
    /// The turn is being stopped.
    Stopping,
    /// Messages wait: `spec.operatingMode` is Suspended.
    Suspended,
    /// It takes no more messages.
    Done,
}

/// A turn that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastTurn {
    /// Its number, from 1.
    #[schemars(range(min = 1))]
    pub number: i32,
    /// How it ended.
    pub status: TurnStatus,
    /// Why, where `status` alone does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TurnStatus {
    /// The agent said its last word.
    Completed,
    /// Somebody stopped it.
    Cancelled,
    /// The agent declined the message.
    Rejected,
    /// There was nothing to do.
    Empty,
    /// It could not go on.
    Failed,
}

/// What model requests used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Model requests.
    #[schemars(range(min = 0))]
    pub steps: i64,
    /// Tokens of the requests, those from a cache included.
    #[schemars(range(min = 0))]
    pub input_tokens: i64,
    /// Of these, tokens that the provider's cache held.
    #[schemars(range(min = 0))]
    pub cached_tokens: i64,
    /// Tokens of the replies.
    #[schemars(range(min = 0))]
    pub output_tokens: i64,
    /// What they cost, in US dollars.
    #[serde(rename = "costUSD")]
    #[schemars(length(max = 32), regex(pattern = r"^[0-9]+(\.[0-9]+)?$"))]
    pub cost_usd: String,
}

/// What the next turn runs with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Effective {
    /// Name of the Mode.
    #[schemars(length(max = names::OBJECT_MAX))]
    pub mode: String,
    /// Name of the Model.
    #[schemars(length(max = names::OBJECT_MAX))]
    pub model: String,
    /// Names of the Skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = names::OBJECT_MAX)))]
    pub skills: Vec<String>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 25, turn_seconds: 3600, tool_seconds: 300, spend_usd: None, output_bytes: 64 << 10, message_bytes: 256 << 10 }
    }
}

fn default_mode() -> String {
    "agent".into()
}

fn default_model() -> String {
    "default".into()
}

fn default_agent() -> String {
    "agent".into()
}
