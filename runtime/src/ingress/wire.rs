//! The documents of the API, as server and clients exchange them. Pure data; events travel as `thetis_core::event::Event`.

use serde::{Deserialize, Serialize};
use thetis_core::event::Event;
use thetis_core::id::{ConversationId, Seq};
use thetis_core::usage::Usage;

/// A conversation, as `GET` shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its identity, the same for ever.
    pub id: ConversationId,
    /// The namespace it lives in.
    pub namespace: String,
    /// Its name there.
    pub name: String,
    /// For people; none before its first message.
    pub title: Option<String>,
    /// `idle`, `running`, `stopping` or `done`.
    pub state: String,
    /// Input waits that no turn has taken up yet.
    pub pending: bool,
    /// The mode it uses.
    pub mode: String,
    /// The model it uses.
    pub model: String,
    /// The skills it uses, in order.
    pub skills: Vec<String>,
    /// The agent aspect that runs its turns.
    pub agent: String,
    /// The last event's number.
    pub tail: Seq,
    /// Tokens, steps and cost of all its turns.
    pub usage: Usage,
}

/// Answer of `GET /api/v1/conversations`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversations {
    /// Latest first; at most 500.
    pub items: Vec<Conversation>,
}

/// Body of `POST /api/v1/conversations`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewConversation {
    /// Where; `default` where absent.
    #[serde(default = "default_namespace")]
    pub namespace: String,
    /// A DNS name that is new in the namespace.
    pub name: String,
    /// For people; made from the first message where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A Mode of the namespace; `agent` where absent.
    #[serde(default = "default_mode")]
    pub mode: String,
    /// A Model of the namespace; `default` where absent.
    #[serde(default = "default_model")]
    pub model: String,
    /// Skills of the namespace, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// An agent aspect of the namespace; the built-in one where absent.
    #[serde(default = "default_agent")]
    pub agent: String,
    /// The first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// Body of `POST …/messages`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// What is said.
    pub text: String,
}

/// Body of `POST …/cancel`: an empty object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cancel {}

/// Answer to input: it is in the log, on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The event that holds it.
    pub seq: Seq,
}

/// Answer of `GET …/events` without `text/event-stream`: events in log order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Events after `?after`, at most 500.
    pub events: Vec<Event>,
    /// The log's last event when it was read; more is there while the page ends before it.
    pub tail: Seq,
}

/// One message of `GET …/events` as `text/event-stream`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Streamed {
    /// The next event of the log; the message's id is its number.
    Log(Event),
    /// Text that the model is saying now. Not in the log; may be lost.
    Delta(String),
    /// The message that the model was saying starts over: the deltas so far are void.
    Restart,
    /// The stream ends here, and asking again will not help.
    Problem(Problem),
}

/// A refusal (RFC 9457, `application/problem+json`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The status in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// For programs; does not change.
    pub code: String,
    /// For people.
    pub detail: String,
}

/// The namespace of what names none.
#[must_use]
pub fn default_namespace() -> String {
    "default".to_owned()
}

/// The agent of what names none.
#[must_use]
pub fn default_agent() -> String {
    "agent".to_owned()
}

/// The mode of what names none.
#[must_use]
pub fn default_mode() -> String {
    "agent".to_owned()
}

/// The model of what names none.
#[must_use]
pub fn default_model() -> String {
    "default".to_owned()
}
