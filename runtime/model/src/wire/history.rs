//! Events become messages: calls paired with their results, and worded for the provider. Pure.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value};
use thetis_core::event::{AssistantMessage, Body, Event, ToolCall, ToolResult, UserMessage};
use thetis_core::id::Seq;

use super::{Content, Error, Part, text};
use crate::request::Request;

/// The members of an assistant message that hold reasoning, as vendors name them.
pub(crate) const REASONING: [&str; 3] = ["reasoning_details", "reasoning_content", "reasoning"];

/// One message of the request.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum Message<'a> {
    System {
        content: Content<'a>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// None beside calls without text.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
        /// Sent back as received.
        #[serde(flatten)]
        reasoning: Map<String, Value>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Content<'a>,
    },
}

#[derive(Serialize)]
pub(super) struct Call<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl Message<'_> {
    /// How many of Anthropic's blocks it becomes.
    pub(super) fn blocks(&self) -> usize {
        match self {
            Self::System { content } | Self::User { content } | Self::Tool { content, .. } => match content {
                Content::Text(_) => 1,
                Content::Parts(parts) => parts.len(),
            },
            Self::Assistant { content, tool_calls, reasoning } => {
                let thoughts = reasoning.get("reasoning_details").and_then(Value::as_array).map_or(0, Vec::len);
                usize::from(content.is_some()).saturating_add(tool_calls.len()).saturating_add(thoughts)
            }
        }
    }
}

/// The messages of the request's history, without marks. With `parts`, texts that may carry a mark are sent as parts.
pub(super) fn messages<'a>(request: &Request<'a>, parts: bool) -> Result<Vec<Message<'a>>, Error> {
    let mut ids = CallIds::default();
    let mut messages = Vec::with_capacity(request.history.len());
    for placed in placed(request.history)? {
        match placed {
            Placed::Input(event) => messages.extend(input(event, request, parts)?),
            Placed::Assistant { seq, message, results } => messages.extend(answer(seq, message, &results, &mut ids, request, parts)?),
        }
    }
    Ok(messages)
}

/// An event that the model sees; results stand with the message that asks for them.
enum Placed<'a> {
    Input(&'a Event),
    Assistant { seq: Seq, message: &'a AssistantMessage, results: Vec<Option<&'a ToolResult>> },
}

fn placed<'a>(history: &[&'a Event]) -> Result<Vec<Placed<'a>>, Error> {
    let mut placed: Vec<Placed<'a>> = Vec::with_capacity(history.len());
    for event in history {
        match &event.body {
            Body::UserMessage(_) | Body::Context(_) | Body::TurnInterrupted(_) | Body::Compaction(_) => placed.push(Placed::Input(event)),
            Body::AssistantMessage(message) => {
                placed.push(Placed::Assistant { seq: event.seq, message, results: vec![None; message.calls.len()] });
            }
            Body::ToolResult(result) => {
                let slot = placed.iter_mut().rev().find_map(|placed| placed.slot(result)).filter(|slot| slot.is_none());
                let orphaned = || Error::ResultOrphaned { seq: event.seq, message: result.message, call: result.call.clone() };
                *slot.ok_or_else(orphaned)? = Some(result);
            }
            Body::TurnStart(_) | Body::TurnEnd(_) | Body::Note(_) | Body::CancelRequested(_) => {}
        }
    }
    Ok(placed)
}

impl<'a> Placed<'a> {
    /// Where `result` belongs, if this is the message that asks for it.
    fn slot(&mut self, result: &ToolResult) -> Option<&mut Option<&'a ToolResult>> {
        match self {
            Self::Assistant { seq, message, results } if *seq == result.message => {
                let index = message.calls.iter().position(|call| call.id == result.call)?;
                results.get_mut(index)
            }
            _ => None,
        }
    }
}

/// The message of one input event; none where it says nothing.
fn input<'a>(event: &'a Event, request: &Request<'a>, parts: bool) -> Result<Option<Message<'a>>, Error> {
    let content = match &event.body {
        Body::UserMessage(message) => spoken(event.seq, message, request)?,
        Body::Context(context) => vec![Part::text(text::environment(&context.text))],
        Body::TurnInterrupted(interrupted) => vec![Part::text(text::environment(&interrupted.text))],
        Body::Compaction(compaction) => vec![Part::text(text::summary(&compaction.summary))],
        _ => Vec::new(),
    };
    Ok(if content.is_empty() { None } else { Some(Message::User { content: Content::of(content, parts) }) })
}

/// What a person said: files first, then the words, as vendors advise. Blank texts are rejected by some, so they go.
fn spoken<'a>(seq: Seq, message: &'a UserMessage, request: &Request<'a>) -> Result<Vec<Part<'a>>, Error> {
    let mut parts = Vec::with_capacity(message.attachments.len().saturating_add(1));
    for attachment in &message.attachments {
        if !text::shows(attachment) {
            parts.push(Part::text(text::unshown(attachment)));
            continue;
        }
        let bytes = request.blobs.get(&attachment.digest).ok_or_else(|| Error::BlobMissing {
            seq,
            name: attachment.name.clone(),
            digest: attachment.digest,
        })?;
        parts.push(if text::is_image(attachment) { Part::image(attachment, bytes) } else { Part::text(text::file(attachment, bytes)) });
    }
    if !message.text.trim().is_empty() {
        parts.push(Part::text(message.text.as_str()));
    }
    Ok(parts)
}

/// An assistant message and the results of its calls. One that says nothing is left out: providers reject empty ones.
fn answer<'a>(
    seq: Seq,
    message: &'a AssistantMessage,
    results: &[Option<&'a ToolResult>],
    ids: &mut CallIds<'a>,
    request: &Request<'a>,
    parts: bool,
) -> Result<Vec<Message<'a>>, Error> {
    let said = (!message.text.trim().is_empty()).then_some(message.text.as_str());
    if said.is_none() && message.calls.is_empty() {
        return Ok(Vec::new());
    }
    let mut reasoning = reasoning(message, &request.model.wire_id);
    let mut tool_calls = Vec::with_capacity(message.calls.len());
    let mut answers = Vec::with_capacity(message.calls.len());
    for (index, (call, result)) in message.calls.iter().zip(results).enumerate() {
        let result = result.ok_or_else(|| Error::CallUnanswered { message: seq, call: call.id.clone() })?;
        let id = ids.next(seq, index, &call.id);
        if id != call.id {
            rename(&mut reasoning, &call.id, &id);
        }
        tool_calls.push(Call::new(id.clone(), call));
        answers.push(Message::Tool { tool_call_id: id, content: Content::of(vec![Part::text(text::result(result))], parts) });
    }
    let asked = Message::Assistant { content: said, tool_calls, reasoning };
    Ok(std::iter::once(asked).chain(answers).collect())
}

/// What has to go back with the message, if `model` is the one that thought it, and nothing that would overwrite its other
/// members.
fn reasoning(message: &AssistantMessage, model: &str) -> Map<String, Value> {
    let ours = |reasoning: &&Value| reasoning.get("model").and_then(Value::as_str) == Some(model);
    let members = message.reasoning.as_ref().filter(ours).and_then(Value::as_object).into_iter().flatten();
    members.filter(|(name, _)| REASONING.contains(&name.as_str())).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Some vendors sign the thought before a call under the call's id: where the id is replaced, the signature follows it.
fn rename(reasoning: &mut Map<String, Value>, from: &str, to: &str) {
    for detail in reasoning.get_mut("reasoning_details").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(id) = detail.get_mut("id").filter(|id| *id == from) {
            *id = to.into();
        }
    }
}

impl<'a> Call<'a> {
    fn new(id: Cow<'a, str>, call: &'a ToolCall) -> Self {
        let function = Function { name: text::tool_name(&call.name), arguments: text::arguments(&call.arguments) };
        Self { id, kind: "function", function }
    }
}

/// Ids of calls must be unique in the whole request, and vendors reuse them between messages.
#[derive(Default)]
struct CallIds<'a>(HashSet<Cow<'a, str>>);

impl<'a> CallIds<'a> {
    fn next(&mut self, message: Seq, index: usize, id: &'a str) -> Cow<'a, str> {
        if text::is_call_id(id) && self.0.insert(Cow::Borrowed(id)) {
            return Cow::Borrowed(id);
        }
        let mut made = format!("call_{message}_{index}");
        while !self.0.insert(Cow::Owned(made.clone())) {
            made.push('_');
        }
        Cow::Owned(made)
    }
}

impl<'a> Content<'a> {
    /// Plain text where that is all there is, unless `parts` are wanted.
    fn of(mut content: Vec<Part<'a>>, parts: bool) -> Self {
        match content.pop() {
            Some(Part::Text { text, .. }) if content.is_empty() && !parts => Self::Text(text),
            last => {
                content.extend(last);
                Self::Parts(content)
            }
        }
    }
}
