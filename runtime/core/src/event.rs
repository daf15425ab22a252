//! The events of a log: what each kind holds, as it is stored. Pure data; who may append which is decided elsewhere.
//!
//! A body is stored as JSON text beside its kind. An unknown kind or an unknown field is refused, never dropped: a reader
//! that is older than the log must stop, not guess.

use serde::{Deserialize, Serialize};

use crate::id::{Digest, Seq, SeqRange, Turn};
use crate::usage::Usage;

#[cfg(test)]
mod tests;

/// Milliseconds since 1970-01-01 UTC by the database's clock: for people to read. Order is by [`Seq`] alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

/// One entry of a conversation's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its position.
    pub seq: Seq,
    /// When the database took it.
    pub at: Timestamp,
    /// The turn that wrote it; none for input, which comes from outside a turn.
    pub turn: Option<Turn>,
    /// What it says.
    #[serde(flatten)]
    pub body: Body,
}

/// What an event says. The variant's serialised name is the column `kind`; its content is the column `body`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum Body {
    /// Somebody spoke to the agent.
    #[serde(rename = "user/message")]
    UserMessage(UserMessage),
    /// A turn began, and what it runs with.
    #[serde(rename = "turn/start")]
    TurnStart(TurnStart),
    /// The model answered a step.
    #[serde(rename = "assistant/message")]
    AssistantMessage(AssistantMessage),
    /// A tool call ended. Every call of a logged message gets exactly one.
    #[serde(rename = "tool/result")]
    ToolResult(ToolResult),
    /// The agent put text before the model that no person wrote.
    #[serde(rename = "context")]
    Context(Text),
    /// For people; the model never sees it.
    #[serde(rename = "note")]
    Note(Text),
    /// Text that stands for spans of the log in later requests.
    #[serde(rename = "compaction")]
    Compaction(Compaction),
    /// The process that ran the turn went away; the turn goes on after this entry. The model sees it.
    #[serde(rename = "turn/interrupted")]
    TurnInterrupted(TurnInterrupted),
    /// Somebody asked the turn to stop.
    #[serde(rename = "cancel/requested")]
    CancelRequested(CancelRequested),
    /// The turn is over.
    #[serde(rename = "turn/end")]
    TurnEnd(TurnEnd),
}

/// A kind or body that this version does not know.
#[derive(Debug, thiserror::Error)]
#[error("event {seq} of kind {kind:?} is not one this version can read")]
pub struct Unreadable {
    /// Its position.
    pub seq: Seq,
    /// Its kind, as stored.
    pub kind: String,
    /// What did not parse.
    #[source]
    pub cause: serde_json::Error,
}

/// Where input came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// `spec.prompt` of a Conversation object.
    Object,
    /// The HTTP API, and what stands on it: the command line and the web UI.
    Api,
}

/// The body of `user/message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserMessage {
    /// What was said; empty only beside attachments.
    pub text: String,
    /// Files that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Where it came in.
    pub source: Source,
}

/// A file that came with a message; its bytes are a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// As the sender named it.
    pub name: String,
    /// For example `image/png`.
    pub media_type: String,
    /// Of its bytes, which `blob` holds.
    pub digest: Digest,
    /// Of the file.
    pub bytes: u64,
}

/// The body of `turn/start`: everything that decides how the turn goes, so that it can be resumed as it began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnStart {
    /// The agent's component.
    pub agent: Digest,
    /// Name and settings digest of the mode.
    pub mode: Used,
    /// Name and settings digest of the model.
    pub model: Used,
    /// Names and settings digests of the skills, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<Used>,
}

/// A setting by name, and which content it had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Used {
    /// The object's name.
    pub name: String,
    /// Of the resolved setting.
    pub digest: Digest,
}

/// The body of `assistant/message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssistantMessage {
    /// What the model said; may be empty beside calls.
    pub text: String,
    /// Provider-opaque reasoning that has to be sent back unchanged with this message; kept as received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<serde_json::Value>,
    /// The calls it asks for, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: Finish,
    /// What the step used.
    pub usage: Usage,
    /// The last event that its request covered. Input with a later number, although it may stand before this message in the
    /// log (it came while the model spoke), is shown to the model after this message and the results of its calls.
    pub through: Seq,
    /// Of the request that it answers, as `projection::digest` makes it: model-visible means logged.
    pub request: Digest,
}

/// One call that a message asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The provider's id for it; unique within its message (the host sees to that).
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: perhaps not even JSON.
    pub arguments: String,
}

/// Why a message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    /// The model had no more to say.
    Stop,
    /// It asks for tool calls.
    Calls,
    /// It reached its output limit.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// The turn was cancelled while the model spoke: the text is what had come by then, and there are no calls.
    Cut,
}

/// The body of `tool/result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolResult {
    /// The message whose call this answers.
    pub message: Seq,
    /// The call's id within that message.
    pub call: String,
    /// The tool's name.
    pub name: String,
    /// How the call ended.
    pub outcome: CallOutcome,
    /// What the model is shown; at most the conversation's output limit.
    pub text: String,
    /// The whole output, where `text` holds only its head and tail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<Digest>,
}

/// How a tool call ended, as the model and people see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool answered.
    Answered,
    /// The tool answered with a failure of its own.
    Failed,
    /// Not run: the mode, the arguments or an unknown name forbade it.
    Refused,
    /// Not run: the turn was cancelled first.
    Cancelled,
    /// The process died while it ran: it may or may not have happened.
    Interrupted,
    /// The tool's component trapped.
    Trapped,
    /// It ran into a limit of memory, table, handles or output.
    OverLimit,
    /// It ran into its time budget.
    TimedOut,
    /// Something on our side failed.
    HostFault,
}

/// The body of `context` and `note`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// The text.
    pub text: String,
}

/// The body of `compaction`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compaction {
    /// The runs it stands for: ascending, apart, and none of them holding a user's message.
    pub spans: Vec<SeqRange>,
    /// What the model sees in their place.
    pub summary: String,
}

/// The body of `turn/interrupted`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnInterrupted {
    /// The attempt that begins now; the first was 1.
    pub attempt: u32,
    /// What the model is told.
    pub text: String,
}

/// The body of `cancel/requested`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelRequested {
    /// Where it came in.
    pub source: Source,
}

/// The body of `turn/end`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnEnd {
    /// How it ended.
    pub status: TurnStatus,
    /// For people: why, where the status alone does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of all steps of the turn.
    pub usage: Usage,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnStatus {
    /// The agent said its last word.
    Completed,
    /// Somebody stopped it.
    Cancelled,
    /// The agent declined the input.
    Rejected,
    /// There was nothing to do.
    Empty,
    /// It could not go on; the reason says why.
    Failed,
}

impl Event {
    /// The event that a row holds.
    ///
    /// # Errors
    /// When the kind is unknown, or the body lacks a field, has an unknown one, or is not JSON.
    pub fn decode(seq: Seq, at: Timestamp, turn: Option<Turn>, kind: &str, body: &str) -> Result<Self, Unreadable> {
        let body = Body::decode(kind, body).map_err(|cause| Unreadable { seq, kind: kind.to_owned(), cause })?;
        Ok(Self { seq, at, turn, body })
    }
}

impl Body {
    /// The content as the column `body` holds it: JSON.
    #[must_use]
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "writing JSON to memory fails only on map keys that are not text, and no body has a map of ours"
    )]
    pub fn encode(&self) -> String {
        let json = match self {
            Self::UserMessage(content) => serde_json::to_string(content),
            Self::TurnStart(content) => serde_json::to_string(content),
            Self::AssistantMessage(content) => serde_json::to_string(content),
            Self::ToolResult(content) => serde_json::to_string(content),
            Self::Context(content) | Self::Note(content) => serde_json::to_string(content),
            Self::Compaction(content) => serde_json::to_string(content),
            Self::TurnInterrupted(content) => serde_json::to_string(content),
            Self::CancelRequested(content) => serde_json::to_string(content),
            Self::TurnEnd(content) => serde_json::to_string(content),
        };
        json.expect("bodies are JSON")
    }

    fn decode(kind: &str, body: &str) -> Result<Self, serde_json::Error> {
        Ok(match kind {
            "user/message" => Self::UserMessage(serde_json::from_str(body)?),
            "turn/start" => Self::TurnStart(serde_json::from_str(body)?),
            "assistant/message" => Self::AssistantMessage(serde_json::from_str(body)?),
            "tool/result" => Self::ToolResult(serde_json::from_str(body)?),
            "context" => Self::Context(serde_json::from_str(body)?),
            "note" => Self::Note(serde_json::from_str(body)?),
            "compaction" => Self::Compaction(serde_json::from_str(body)?),
            "turn/interrupted" => Self::TurnInterrupted(serde_json::from_str(body)?),
            "cancel/requested" => Self::CancelRequested(serde_json::from_str(body)?),
            "turn/end" => Self::TurnEnd(serde_json::from_str(body)?),
            _ => return Err(serde::de::Error::custom("unknown kind")),
        })
    }

    /// The kind, as the column holds it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::UserMessage(_) => "user/message",
            Self::TurnStart(_) => "turn/start",
            Self::AssistantMessage(_) => "assistant/message",
            Self::ToolResult(_) => "tool/result",
            Self::Context(_) => "context",
            Self::Note(_) => "note",
            Self::Compaction(_) => "compaction",
            Self::TurnInterrupted(_) => "turn/interrupted",
            Self::CancelRequested(_) => "cancel/requested",
            Self::TurnEnd(_) => "turn/end",
        }
    }
}
