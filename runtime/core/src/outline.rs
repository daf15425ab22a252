//! What a choice about the history needs to know of each event, without its text: the host folds it from the log, a guest
//! reads the same through `log.outline`, and both hand it to `projection` and `compaction`. Pure data.

use serde::Serialize;

use crate::event::{Body, Event};
use crate::id::{Seq, SeqRange, Turn};

#[cfg(test)]
mod tests;

/// What an image or other binary attachment counts for, in bytes of text: about 1,500 tokens, which is what providers
/// make of one.
const BINARY_ATTACHMENT: u64 = 6 << 10;

/// One event without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Heading {
    /// Its position.
    pub seq: Seq,
    /// The turn that wrote it; none for input.
    pub turn: Option<Turn>,
    /// What it is to a model request.
    pub role: Role,
    /// Size of the text that a request carries for it, in bytes; 0 where the model never sees it.
    pub bytes: u64,
}

/// What an event is to a model request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Role {
    /// A user's message: in every request, word for word.
    User,
    /// A message of the model.
    Message {
        /// How many calls it asks for; each has a result before the next request.
        calls: u32,
        /// The last event that its own request covered.
        through: Seq,
    },
    /// The result of a call.
    Answer {
        /// The message whose call it answers.
        message: Seq,
        /// The tool that was called.
        tool: String,
    },
    /// Any other text before the model.
    Shown,
    /// Not for the model.
    Hidden,
    /// Not for the model in its own place. A request may show its summary in place of the spans; `bytes` is the summary's.
    Compaction {
        /// What the summary stands for.
        spans: Vec<SeqRange>,
    },
}

impl Heading {
    /// What a log's outline says of `event`.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        let (role, bytes) = match &event.body {
            Body::UserMessage(message) => {
                let attached = message.attachments.iter().map(|file| {
                    let content = if file.media_type.starts_with("text/") { file.bytes } else { BINARY_ATTACHMENT };
                    content.saturating_add(len(&file.name))
                });
                (Role::User, attached.fold(len(&message.text), u64::saturating_add))
            }
            Body::AssistantMessage(message) => {
                let calls = message.calls.iter().map(|call| len(&call.name) + len(&call.arguments)).sum::<u64>();
                let reasoning = message.reasoning.as_ref().map_or(0, |reasoning| len(&reasoning.to_string()));
                let count = u32::try_from(message.calls.len()).unwrap_or(u32::MAX);
                (Role::Message { calls: count, through: message.through }, len(&message.text) + reasoning + calls)
            }
            Body::ToolResult(result) => (Role::Answer { message: result.message, tool: result.name.clone() }, len(&result.text)),
            Body::Context(context) => (Role::Shown, len(&context.text)),
            Body::TurnInterrupted(interrupted) => (Role::Shown, len(&interrupted.text)),
            Body::Compaction(compaction) => (Role::Compaction { spans: compaction.spans.clone() }, len(&compaction.summary)),
            Body::TurnStart(_) | Body::Note(_) | Body::CancelRequested(_) | Body::TurnEnd(_) => (Role::Hidden, 0),
        };
        Self { seq: event.seq, turn: event.turn, role, bytes }
    }

    /// Whether the model sees the event itself.
    #[must_use]
    pub const fn visible(&self) -> bool {
        !matches!(self.role, Role::Hidden | Role::Compaction { .. })
    }
}

/// The part `range` of an outline from event 1 on. Nothing where the range is reversed or leaves the log.
#[must_use]
pub fn within(outline: &[Heading], range: SeqRange) -> &[Heading] {
    let index = |seq: u64| usize::try_from(seq).unwrap_or(usize::MAX);
    range.first.0.checked_sub(1).and_then(|first| outline.get(index(first)..index(range.last.0))).unwrap_or_default()
}

fn len(text: &str) -> u64 {
    text.len() as u64
}
