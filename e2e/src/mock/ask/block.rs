//! A request as the sequence of blocks that a provider caches: tools, system, messages. No IO.

use serde_json::Value;

/// One block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its content with its role, without marks.
    pub text: String,
    /// Whether the request marks the prefix up to here for caching.
    pub marked: bool,
}

/// Members of a message that are text to the model besides `content`.
const EXTRA: [&str; 4] = ["reasoning_details", "reasoning_content", "reasoning", "tool_calls"];

/// The blocks of a request.
pub(super) fn of(body: &Value) -> Vec<Block> {
    let model = body.get("model").map(Value::to_string).unwrap_or_default();
    let tools = body.get("tools").map(Value::to_string).unwrap_or_default();
    let mut blocks = vec![Block { text: format!("{model}{tools}"), marked: false }];
    for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let role = super::role(Some(message));
        let prefix = format!("{role} {}", message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default());
        match message.get("content") {
            Some(Value::Array(parts)) => blocks.extend(parts.iter().map(|part| part_block(&prefix, part))),
            Some(Value::String(text)) => blocks.push(Block { text: format!("{prefix}{}", Value::from(text.as_str())), marked: false }),
            _ => {}
        }
        for extra in EXTRA.iter().filter_map(|name| message.get(name)) {
            let whole = std::slice::from_ref(extra);
            let each = extra.as_array().map_or(whole, Vec::as_slice);
            blocks.extend(each.iter().map(|value| Block { text: format!("{prefix}{value}"), marked: false }));
        }
    }
    blocks
}

/// A part; a text without its mark is the same block as a plain text.
fn part_block(prefix: &str, part: &Value) -> Block {
    let content = part.get("text").or(part.get("image_url")).unwrap_or(part);
    Block { text: format!("{prefix}{content}"), marked: part.get("cache_control").is_some() }
}
