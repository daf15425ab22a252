//! Words an answer as a provider does: the events of a stream, or one completion. No IO.
//!
//! Shapes, from the providers' documentation:
//! - OpenAI: the role comes first and alone; the reason to end comes with an empty delta; the bill comes last, with no choices,
//!   and only where `include_usage` asks for it; nothing has a price.
//! - `OpenRouter`: comments keep the connection alive; every delta repeats the role; the bill comes always, in an event with an
//!   empty delta, and has a price.
//! - Anthropic behind `OpenRouter`: as before, with thoughts in `reasoning_details`, signed by a last piece that has no text, and
//!   a first piece of arguments that is empty.

use serde_json::{Value, json};

use super::plan::{Answer, Called};
use super::script::Shape;

/// The one moment at which everything is answered: answers are to be repeatable.
const CREATED: u64 = 1_764_460_800;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Keeps the connection alive.
    Comment,
    /// A part of what the model says, after the delay of one.
    Delta(String),
    /// What goes around it, with no delay.
    Frame(String),
}

impl Event {
    /// As it goes over the wire.
    #[must_use]
    pub fn wire(&self) -> String {
        match self {
            Self::Comment => ": OPENROUTER PROCESSING\n\n".to_owned(),
            Self::Delta(data) | Self::Frame(data) => format!("data: {data}\n\n"),
        }
    }
}

/// The events of a stream.
#[must_use]
pub fn events(answer: &Answer, include_usage: bool) -> Vec<Event> {
    let openai = answer.shape == Shape::Openai;
    let delta = |delta: Value| Event::Delta(chunk(answer, &delta, None, None).to_string());
    let mut events = Vec::new();
    events.push(if openai {
        Event::Frame(chunk(answer, &json!({ "role": "assistant", "content": "", "refusal": null }), None, None).to_string())
    } else {
        Event::Comment
    });
    events.extend(answer.reasoning.iter().map(|piece| delta(thought(answer.shape, piece))));
    if answer.shape == Shape::Anthropic && !answer.reasoning.is_empty() {
        let signed = json!([{ "type": "reasoning.text", "signature": signature(answer), "format": FORMAT, "index": 0 }]);
        events.push(delta(json!({ "role": "assistant", "content": "", "reasoning_details": signed })));
    }
    events.extend(answer.text.iter().map(|piece| delta(said(openai, "content", &json!(piece)))));
    for (index, call) in answer.calls.iter().enumerate() {
        events.extend(call_pieces(answer.shape, index, call).map(|piece| delta(said(openai, "tool_calls", &json!([piece])))));
    }
    let end = if openai { json!({}) } else { json!({ "role": "assistant", "content": "" }) };
    events.push(Event::Frame(chunk(answer, &end, Some(&answer.finish), None).to_string()));
    if include_usage || !openai {
        events.push(Event::Frame(chunk(answer, &end, None, Some(usage(answer))).to_string()));
    }
    events.push(Event::Frame("[DONE]".to_owned()));
    events
}

/// A completion that is not streamed.
#[must_use]
pub fn whole(answer: &Answer) -> Value {
    let calls: Vec<Value> = answer
        .calls
        .iter()
        .map(|call| json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": call.arguments.concat() } }))
        .collect();
    let text = answer.text.concat();
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({ "role": "assistant", "content": content, "refusal": null });
    if !calls.is_empty() {
        set(&mut message, "tool_calls", calls.into());
    }
    if !answer.reasoning.is_empty() {
        set(&mut message, "reasoning", answer.reasoning.concat().into());
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": answer.finish, "logprobs": null });
    let mut completion = json!({ "object": "chat.completion", "choices": [choice], "usage": usage(answer) });
    around(answer, &mut completion);
    completion
}

/// An error, as the body of an HTTP error or inside a stream.
#[must_use]
pub fn error(code: u16, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message, "metadata": { "provider_name": "Mock" } } })
}

/// An error that ends a stream.
#[must_use]
pub fn error_event(answer: &Answer, code: u16, message: &str) -> String {
    let mut event = chunk(answer, &json!({ "content": "" }), Some("error"), None);
    set(&mut event, "error", json!({ "code": code, "message": message }));
    event.to_string()
}

/// What Anthropic's reasoning says it is.
const FORMAT: &str = "anthropic-claude-v1";

fn thought(shape: Shape, piece: &str) -> Value {
    match shape {
        Shape::Openai => json!({ "reasoning_content": piece }),
        Shape::Openrouter => json!({ "role": "assistant", "content": "", "reasoning": piece }),
        Shape::Anthropic => {
            let detail = json!({ "type": "reasoning.text", "text": piece, "format": FORMAT, "index": 0 });
            json!({ "role": "assistant", "content": "", "reasoning": piece, "reasoning_details": [detail] })
        }
    }
}

fn signature(answer: &Answer) -> String {
    format!("signed-{}", answer.id)
}

fn said(openai: bool, member: &str, value: &Value) -> Value {
    let mut delta = if openai { json!({}) } else { json!({ "role": "assistant", "content": null }) };
    set(&mut delta, member, value.clone());
    delta
}

/// The pieces of a call: id and name in the first, arguments over all of them.
fn call_pieces(shape: Shape, index: usize, call: &Called) -> impl Iterator<Item = Value> {
    let empty = shape == Shape::Anthropic || call.arguments.is_empty();
    let (first, rest) = match call.arguments.split_first() {
        Some((first, rest)) if !empty => (first.as_str(), rest),
        _ => ("", call.arguments.as_slice()),
    };
    let begin = json!({ "index": index, "id": call.id, "type": "function", "function": { "name": call.name, "arguments": first } });
    std::iter::once(begin).chain(rest.iter().map(move |more| json!({ "index": index, "function": { "arguments": more } })))
}

fn chunk(answer: &Answer, delta: &Value, finish: Option<&str>, usage: Option<Value>) -> Value {
    let openai = answer.shape == Shape::Openai;
    let mut choice = json!({ "index": 0, "delta": delta, "finish_reason": finish, "logprobs": null });
    if !openai {
        set(&mut choice, "native_finish_reason", finish.map(|finish| native(answer.shape, finish)).into());
    }
    let choices = if openai && usage.is_some() { Vec::new() } else { vec![choice] };
    let mut chunk = json!({ "object": "chat.completion.chunk", "choices": choices });
    around(answer, &mut chunk);
    if openai || usage.is_some() {
        set(&mut chunk, "usage", usage.into());
    }
    chunk
}

fn native(shape: Shape, finish: &str) -> &str {
    match (shape, finish) {
        (Shape::Anthropic, "stop") => "end_turn",
        (Shape::Anthropic, "tool_calls") => "tool_use",
        (Shape::Anthropic, "length") => "max_tokens",
        _ => finish,
    }
}

fn around(answer: &Answer, completion: &mut Value) {
    set(completion, "id", answer.id.as_str().into());
    set(completion, "created", CREATED.into());
    set(completion, "model", answer.model.as_str().into());
    if answer.shape == Shape::Openai {
        set(completion, "system_fingerprint", "fp_mock".into());
    } else {
        set(completion, "provider", "Mock".into());
    }
}

fn usage(answer: &Answer) -> Value {
    let bill = &answer.bill;
    let prompt = json!({ "cached_tokens": bill.cached, "audio_tokens": 0 });
    let completion = json!({ "reasoning_tokens": bill.reasoning });
    let mut usage = json!({
        "prompt_tokens": bill.prompt,
        "completion_tokens": bill.completion,
        "total_tokens": bill.prompt.saturating_add(bill.completion),
        "prompt_tokens_details": prompt,
        "completion_tokens_details": completion,
    });
    if answer.shape != Shape::Openai {
        if let Some(details) = usage.get_mut("prompt_tokens_details") {
            set(details, "cache_write_tokens", bill.written.into());
        }
        set(&mut usage, "cost", bill.cost.into());
        set(&mut usage, "is_byok", false.into());
        set(&mut usage, "cost_details", json!({ "upstream_inference_cost": null }));
    }
    usage
}

fn set(object: &mut Value, member: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(member.to_owned(), value);
    }
}

#[cfg(test)]
mod tests;
