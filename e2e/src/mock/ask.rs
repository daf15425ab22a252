//! Reads a request as strictly as the strictest provider, so that a history which one of them would refuse fails in a test
//! and not in production. No IO.

mod block;
mod check;

use serde_json::Value;

use super::script::Last;
pub use block::Block;

/// A request that a provider would accept.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The model asked for.
    pub model: String,
    /// Wants a stream.
    pub stream: bool,
    /// Wants the bill in the stream.
    pub include_usage: bool,
    /// The last text that a person said; empty when nobody did.
    pub user: String,
    /// The last tool result; empty without one.
    pub result: String,
    /// Who the last message is from.
    pub last: Last,
    /// Which step of the turn this is, from 1.
    pub step: u32,
    /// Everything that is billed, in the order in which a provider caches it.
    pub blocks: Vec<Block>,
}

/// A refusal as a provider words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The words.
    pub message: String,
}

impl Refusal {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self { status: 400, message: message.into() }
    }
}

impl Ask {
    /// Reads the body of a request.
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        check::request(body)?;
        let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let last = match role(messages.last()) {
            "assistant" => Last::Assistant,
            "tool" => Last::Tool,
            _ => Last::User,
        };
        let spoke = messages.iter().rposition(is_person).map_or(0, |index| index.saturating_add(1));
        let answers = messages.iter().skip(spoke).filter(|message| role(Some(message)) == "assistant").count();
        let flag = |pointer| body.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
        Ok(Self {
            model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            stream: flag("/stream"),
            include_usage: flag("/stream_options/include_usage"),
            user: messages.iter().rfind(|message| is_person(message)).map(said).unwrap_or_default(),
            result: messages.iter().rfind(|message| role(Some(message)) == "tool").map(said).unwrap_or_default(),
            last,
            step: u32::try_from(answers.saturating_add(1)).unwrap_or(u32::MAX),
            blocks: block::of(body),
        })
    }
}

fn role(message: Option<&Value>) -> &str {
    message.and_then(|message| message.get("role")).and_then(Value::as_str).unwrap_or_default()
}

/// A user message that a person wrote: the environment's texts and summaries come in tags.
fn is_person(message: &Value) -> bool {
    let text = said(message);
    role(Some(message)) == "user" && !text.starts_with("<environment>") && !text.starts_with("<summary>")
}

/// The texts of a message, without the files.
fn said(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
