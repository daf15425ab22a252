//! What providers refuse, collected from all of them. No IO.

use std::collections::HashSet;

use base64::Engine as _;
use serde_json::Value;

use super::{Refusal, role};

/// Members that a request may have.
const MEMBERS: [&str; 20] = [
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "parallel_tool_calls",
    "provider",
    "reasoning",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
    "usage",
    "user",
];

/// Anthropic's bound.
const MARKS: usize = 4;

/// Refuses a request that any of the providers would refuse.
pub(super) fn request(body: &Value) -> Result<(), Refusal> {
    let members = body.as_object().ok_or_else(|| Refusal::invalid("the body is not an object"))?;
    if let Some(unknown) = members.keys().find(|member| !MEMBERS.contains(&member.as_str())) {
        return Err(Refusal::invalid(format!("Unrecognized request argument supplied: {unknown}")));
    }
    if body.get("model").and_then(Value::as_str).is_none_or(|model| model.trim().is_empty()) {
        return Err(Refusal::invalid("you must provide a model parameter"));
    }
    if body.get("stream_options").is_some() && body.get("stream") != Some(&Value::Bool(true)) {
        return Err(Refusal::invalid("stream_options is only allowed when stream is enabled"));
    }
    for limit in ["max_tokens", "max_completion_tokens"] {
        if body.get(limit).is_some_and(|limit| limit.as_u64().is_none_or(|limit| limit == 0)) {
            return Err(Refusal::invalid(format!("{limit} must be a positive integer")));
        }
    }
    let marks = count_marks(body);
    if marks > MARKS {
        return Err(Refusal::invalid(format!("A maximum of {MARKS} blocks with cache_control may be provided. Found {marks}.")));
    }
    tools(body.get("tools"))?;
    messages(body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default())
}

fn count_marks(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(count_marks).sum(),
        Value::Object(members) => {
            usize::from(members.contains_key("cache_control")).saturating_add(members.values().map(count_marks).sum())
        }
        _ => 0,
    }
}

fn tools(tools: Option<&Value>) -> Result<(), Refusal> {
    let Some(tools) = tools else { return Ok(()) };
    let tools = tools.as_array().filter(|tools| !tools.is_empty()).ok_or_else(|| Refusal::invalid("tools must be a non-empty array"))?;
    let mut names = HashSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let name = tool.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        if tool.get("type") != Some(&Value::from("function")) || !is_name(name) {
            return Err(Refusal::invalid(format!("tools[{index}] must be a function whose name matches ^[a-zA-Z0-9_-]{{1,64}}$")));
        }
        if !names.insert(name) {
            return Err(Refusal::invalid(format!("tools: tool names must be unique, {name} is not")));
        }
        if tool.pointer("/function/parameters/type") != Some(&Value::from("object")) {
            return Err(Refusal::invalid(format!("tools[{index}].function.parameters: input_schema.type must be object")));
        }
    }
    Ok(())
}

fn messages(messages: &[Value]) -> Result<(), Refusal> {
    if messages.iter().all(|message| role(Some(message)) == "system") {
        return Err(Refusal::invalid("messages: at least one message is required"));
    }
    let mut ids = HashSet::new();
    let mut owed: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let refuse = |what: &str| Err(Refusal::invalid(format!("messages[{index}]: {what}")));
        if message.get("cache_control").is_some() {
            return refuse("cache_control belongs on a content part");
        }
        let role = role(Some(message));
        if role == "tool" {
            let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            let Some(place) = owed.iter().position(|owed| *owed == id) else {
                return refuse("messages with role tool must be a response to a preceding message with tool_calls");
            };
            owed.remove(place);
        } else if let Some(id) = owed.first() {
            return refuse(&format!("tool call {id:?} of the message before has no response"));
        }
        match role {
            "system" | "user" | "tool" => content(index, message.get("content"))?,
            "assistant" => {
                let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                if calls.is_empty() || message.get("content").is_some_and(|content| !content.is_null()) {
                    content(index, message.get("content"))?;
                }
                for call in calls {
                    owed.push(tool_call(index, call, &mut ids)?);
                }
            }
            _ => return refuse(&format!("unknown role {role:?}")),
        }
    }
    match owed.first() {
        Some(id) => Err(Refusal::invalid(format!("an assistant message with tool_calls must be followed by responses; {id:?} has none"))),
        None => Ok(()),
    }
}

fn tool_call<'a>(index: usize, call: &'a Value, ids: &mut HashSet<&'a str>) -> Result<&'a str, Refusal> {
    let refuse = |what: &str| Err(Refusal::invalid(format!("messages[{index}].tool_calls: {what}")));
    let text = |pointer| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let id = text("/id");
    if call.get("type") != Some(&Value::from("function")) || !is_name(id) {
        return refuse("type must be function and id must match ^[a-zA-Z0-9_-]{1,64}$");
    }
    if !ids.insert(id) {
        return refuse("tool_use ids must be unique");
    }
    if !is_name(text("/function/name")) {
        return refuse("the function's name must match ^[a-zA-Z0-9_-]{1,64}$");
    }
    match serde_json::from_str(text("/function/arguments")) {
        Ok(Value::Object(_)) => Ok(id),
        _ => refuse("tool_use.input: Input should be a valid dictionary"),
    }
}

fn content(index: usize, content: Option<&Value>) -> Result<(), Refusal> {
    let refuse = |what: &str| Err(Refusal::invalid(format!("messages[{index}].content: {what}")));
    match content {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(()),
        Some(Value::Array(parts)) if !parts.is_empty() => {
            for part in parts {
                let text = |pointer| part.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                match text("/type") {
                    "text" if text("/text").trim().is_empty() => return refuse("text content blocks must contain non-whitespace text"),
                    "text" => {}
                    "image_url" if is_image(text("/image_url/url")) => {}
                    "image_url" => return refuse("the image is not a data URL of a PNG, JPEG, GIF or WebP"),
                    _ => return refuse("a part is a text or an image_url"),
                }
            }
            Ok(())
        }
        _ => refuse("must be a non-empty text or list of parts"),
    }
}

fn is_image(url: &str) -> bool {
    let data = url.strip_prefix("data:image/").and_then(|rest| rest.split_once(";base64,"));
    data.is_some_and(|(kind, data)| {
        ["png", "jpeg", "gif", "webp"].contains(&kind) && base64::engine::general_purpose::STANDARD.decode(data).is_ok()
    })
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
