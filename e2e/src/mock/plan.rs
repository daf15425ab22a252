//! Decides what a request gets: the rule that fits, the answer in full, the bill. Pure but for the state it is handed.

use serde_json::Value;

use super::ask::{Ask, Refusal};
use super::bill::{Bill, Cache, tokens};
use super::script::{Fault, Respond, Rule, Script, Shape, Usage, When};

/// What the endpoint remembers between requests.
#[derive(Debug, Default)]
pub struct State {
    /// How often each rule applied.
    used: Vec<u32>,
    /// Requests that were accepted.
    requests: u64,
    cache: Cache,
}

/// What a request gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The rule that decided, from 0; none for the echo.
    pub rule: Option<usize>,
    /// The answer.
    pub answer: Answer,
    /// What goes wrong with it.
    pub fault: Option<Fault>,
}

/// An answer, every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Its id.
    pub id: String,
    /// The model, as asked for.
    pub model: String,
    /// Whose wire format.
    pub shape: Shape,
    /// Thoughts, in pieces.
    pub reasoning: Vec<String>,
    /// The text, in pieces.
    pub text: Vec<String>,
    /// Tool calls.
    pub calls: Vec<Called>,
    /// Why it ends.
    pub finish: String,
    /// The bill.
    pub bill: Bill,
    /// How fast it is said.
    pub pace: Pace,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, in pieces.
    pub arguments: Vec<String>,
}

/// Milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Before the first event.
    pub first: u64,
    /// Before every delta.
    pub delta: u64,
    /// Between comments while one of the other two lasts.
    pub keepalive: Option<u64>,
}

/// Decides what `ask` gets.
pub fn plan(script: &Script, state: &mut State, ask: &Ask) -> Result<Plan, Refusal> {
    if !script.models.is_empty() && !script.models.contains(&ask.model) {
        return Err(Refusal::invalid(format!("{} is not a valid model ID", ask.model)));
    }
    state.requests = state.requests.saturating_add(1);
    state.used.resize(script.rules.len(), 0);
    let mut candidates = script.rules.iter().zip(&mut state.used).enumerate();
    let found = candidates.find(|(_, (rule, used))| rule.times.is_none_or(|times| **used < times) && rule.when.fits(ask));
    let (index, rule): (Option<usize>, Option<&Rule>) = match found {
        Some((index, (rule, used))) => {
            *used = used.saturating_add(1);
            (Some(index), Some(rule))
        }
        None => (None, None),
    };
    let echo = Respond { text: if ask.last == super::script::Last::Tool { "{result}" } else { "{user}" }.to_owned(), ..Respond::default() };
    let respond = rule.and_then(|rule| rule.respond.as_ref()).unwrap_or(&echo);
    let fault = rule.and_then(|rule| rule.fault.clone());
    Ok(Plan { rule: index, answer: answer(respond, state, ask), fault })
}

impl When {
    fn fits(&self, ask: &Ask) -> bool {
        self.model.as_ref().is_none_or(|model| *model == ask.model)
            && self.contains.as_ref().is_none_or(|part| ask.user.contains(part))
            && self.last.is_none_or(|last| last == ask.last)
            && self.step.is_none_or(|step| step == ask.step)
    }
}

fn answer(respond: &Respond, state: &mut State, ask: &Ask) -> Answer {
    let number = state.requests;
    let (id, call_id) = match respond.shape {
        Shape::Openrouter => (format!("gen-mock-{number}"), "call"),
        Shape::Openai => (format!("chatcmpl-mock{number}"), "call"),
        Shape::Anthropic => (format!("gen-mock-{number}"), "toolu"),
    };
    let text = filled(&respond.text, ask);
    let called: Vec<(String, String, String)> = respond
        .calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let id = call.id.clone().unwrap_or_else(|| format!("{call_id}_{number}_{index}"));
            (id, call.name.clone(), arguments(&call.arguments, ask))
        })
        .collect();
    let spoken: u64 = called.iter().map(|(_, name, arguments)| tokens(name).saturating_add(tokens(arguments))).sum();
    let cached = state.cache.request(&ask.blocks);
    let reasoning = tokens(&respond.reasoning);
    let counted = Bill {
        prompt: cached.prompt,
        cached: cached.read,
        written: cached.written,
        completion: tokens(&text).saturating_add(reasoning).saturating_add(spoken),
        reasoning,
        cost: 0.0,
    };
    let bill = respond.usage.map_or(counted, stated);
    let cost = respond.usage.and_then(|usage| usage.cost).unwrap_or_else(|| bill.price());
    let finish = respond.finish.clone().unwrap_or_else(|| if called.is_empty() { "stop" } else { "tool_calls" }.to_owned());
    Answer {
        id,
        model: ask.model.clone(),
        shape: respond.shape,
        reasoning: pieces(&respond.reasoning, respond.chunk),
        text: pieces(&text, respond.chunk),
        calls: called
            .into_iter()
            .map(|(id, name, arguments)| Called { id, name, arguments: pieces(&arguments, Some(respond.split.unwrap_or(usize::MAX))) })
            .collect(),
        finish,
        bill: Bill { cost, ..bill },
        pace: Pace { first: respond.first_delay_ms, delta: respond.delay_ms, keepalive: respond.keepalive_ms },
    }
}

fn stated(usage: Usage) -> Bill {
    Bill {
        prompt: usage.prompt_tokens,
        cached: usage.cached_tokens,
        written: usage.cache_write_tokens,
        completion: usage.completion_tokens,
        reasoning: 0,
        cost: 0.0,
    }
}

fn filled(template: &str, ask: &Ask) -> String {
    // One pass, so that what a user said is not itself a template.
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let known = [("user}", &ask.user), ("result}", &ask.result)];
        let found = known.into_iter().find_map(|(name, value)| after.strip_prefix(name).map(|rest| (value, rest)));
        rest = if let Some((value, rest)) = found {
            filled.push_str(value);
            rest
        } else {
            filled.push('{');
            after
        };
    }
    filled.push_str(rest);
    filled
}

/// A text is sent as it is; in a mapping the texts are filled.
fn arguments(arguments: &Value, ask: &Ask) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text.clone(),
        other => filled_value(other, ask).to_string(),
    }
}

fn filled_value(value: &Value, ask: &Ask) -> Value {
    match value {
        Value::String(text) => filled(text, ask).into(),
        Value::Array(items) => items.iter().map(|item| filled_value(item, ask)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), filled_value(value, ask))).collect(),
        other => other.clone(),
    }
}

/// Cuts a text into pieces of at most `bytes`, a character at least; or into words with the space before them.
fn pieces(text: &str, bytes: Option<usize>) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for character in text.chars() {
        let full = |piece: &String| match bytes {
            Some(bytes) => piece.len().saturating_add(character.len_utf8()) > bytes,
            None => character.is_whitespace() && !piece.chars().all(char::is_whitespace),
        };
        match pieces.last_mut() {
            Some(piece) if !full(piece) => piece.push(character),
            _ => pieces.push(character.into()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests;
