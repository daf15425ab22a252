//! Reasoning that has to go back to the provider unchanged: put together as it was streamed, never read. Pure.

use serde_json::{Map, Value, json};

/// What a model thought, as far as the provider shows it.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    /// OpenRouter's `reasoning_details`, pieces of one block joined.
    details: Vec<Map<String, Value>>,
    /// The member that carried plain text, and the text; used only without details.
    plain: Option<(&'static str, String)>,
}

/// Members of a block that grow from piece to piece; every other member keeps the last value that is not null.
const GROWING: [&str; 3] = ["text", "summary", "data"];

impl Reasoning {
    /// Adds a piece of a block; text that people may see goes to `show`.
    pub(super) fn detail(&mut self, piece: Value, mut show: impl FnMut(&str)) {
        let Value::Object(piece) = piece else { return };
        for member in ["text", "summary"] {
            if let Some(text) = piece.get(member).and_then(Value::as_str).filter(|text| !text.is_empty()) {
                show(text);
            }
        }
        match self.details.iter_mut().rev().find(|block| same_block(block, &piece)) {
            Some(block) => join(block, piece),
            None => self.details.push(piece),
        }
    }

    /// Adds plain text. The first member that carries any is the one that is kept.
    pub(super) fn plain(&mut self, member: &'static str, text: &str) {
        let (kept, all) = self.plain.get_or_insert((member, String::new()));
        if *kept == member {
            all.push_str(text);
        }
    }

    /// The object that the log keeps. It says whose thoughts these are: another model would refuse them.
    pub(super) fn finish(self, model: &str) -> Option<Value> {
        if !self.details.is_empty() {
            return Some(json!({ "model": model, "reasoning_details": self.details }));
        }
        self.plain.map(|(member, text)| json!({ "model": model, member: text }))
    }
}

/// Pieces belong together when type and index agree, and ids do not disagree. Without an index nothing tells them apart.
fn same_block(block: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let agree = |member| match (block.get(member), piece.get(member)) {
        (Some(Value::Null) | None, _) | (_, Some(Value::Null) | None) => true,
        (Some(one), Some(other)) => one == other,
    };
    block.get("type") == piece.get("type") && block.get("index") == piece.get("index") && agree("id")
}

fn join(block: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (member, value) in piece {
        match (block.get_mut(&member), value) {
            (Some(Value::String(so_far)), Value::String(more)) if GROWING.contains(&member.as_str()) => so_far.push_str(&more),
            (Some(_), Value::Null) => {}
            (_, value) => {
                block.insert(member, value);
            }
        }
    }
}
