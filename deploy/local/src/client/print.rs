//! Events and conversations as text for people. Pure.
//!
//! Models, tools and guests write what stands here, and a terminal obeys what it is shown: control characters and those
//! that turn the direction of writing are shown by their numbers.

use std::fmt::Write as _;

use thetis_core::event::{Body, CallOutcome, Event, TurnStatus, Used};
use thetis_core::id::Digest;
use thetis_core::usage::Usage;
use thetis_runtime::ingress::wire;

/// Lines of one event; what is longer is cut, and `--output json` shows all of it.
const LINES: usize = 40;

/// Where an event's text begins: its number, its kind, two gaps.
const INDENT: usize = 26;

/// One event: its number, its kind and what it says, ending in a line feed.
#[must_use]
pub fn event(event: &Event) -> String {
    let text = shown(&says(&event.body));
    let mut lines = text.trim_end().lines();
    let mut out = format!("{:>4}  {:<18}  {}\n", event.seq, event.body.kind(), lines.next().unwrap_or_default());
    for line in lines.by_ref().take(LINES - 1) {
        line_of(&mut out, line);
    }
    match lines.count() {
        0 => {}
        more => line_of(&mut out, &format!("… {more} more lines; --output json shows them")),
    }
    // Lines may be empty: no spaces at their ends.
    out.lines().fold(String::new(), |kept, line| kept + line.trim_end() + "\n")
}

fn line_of(out: &mut String, line: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{:INDENT$}{line}", "");
}

fn says(body: &Body) -> String {
    match body {
        Body::UserMessage(message) => {
            let files = message.attachments.iter().map(|file| format!("\n[{}, {}, {} bytes]", file.name, file.media_type, file.bytes));
            message.text.clone() + &files.collect::<String>()
        }
        Body::TurnStart(start) => {
            let mut text = format!("agent {}, mode {}, model {}", short(&start.agent), used(&start.mode), used(&start.model));
            if !start.skills.is_empty() {
                text += ", skills ";
                text += &start.skills.iter().map(used).collect::<Vec<_>>().join(" ");
            }
            text
        }
        Body::AssistantMessage(message) => {
            let calls = message.calls.iter().map(|call| format!("→ {} {}", call.name, call.arguments));
            let parts: Vec<String> = Some(message.text.clone()).into_iter().filter(|text| !text.is_empty()).chain(calls).collect();
            format!("{}\n({})", parts.join("\n"), usage(&message.usage))
        }
        Body::ToolResult(result) => {
            let text = format!("{} {}: {}", result.name, outcome(result.outcome), result.text);
            result.full.map_or(text.clone(), |full| format!("{text}\n(cut; the whole output is blob {})", short(&full)))
        }
        Body::Context(text) | Body::Note(text) => text.text.clone(),
        Body::Compaction(compaction) => {
            let spans: Vec<String> = compaction.spans.iter().map(|span| format!("{}–{}", span.first, span.last)).collect();
            format!("stands for {}:\n{}", spans.join(", "), compaction.summary)
        }
        Body::TurnInterrupted(interrupted) => format!("attempt {} begins: {}", interrupted.attempt, interrupted.text),
        Body::CancelRequested(_) => "asked to stop".to_owned(),
        Body::TurnEnd(end) => {
            let reason = end.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{}{reason} ({})", status(end.status), usage(&end.usage))
        }
    }
}

/// `2 steps, 310 tokens in (of those 200 from the cache), 24 out, $0.0012`.
#[must_use]
pub fn usage(usage: &Usage) -> String {
    let tokens = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let cached = if usage.cache_read > 0 { format!(" ({} from the cache)", usage.cache_read) } else { String::new() };
    let steps = if usage.steps == 1 { "1 step".to_owned() } else { format!("{} steps", usage.steps) };
    format!("{steps}, {tokens} tokens in{cached}, {} out, {}", usage.output, usage.cost)
}

/// The word that the log uses.
#[must_use]
pub const fn status(status: TurnStatus) -> &'static str {
    match status {
        TurnStatus::Completed => "completed",
        TurnStatus::Cancelled => "cancelled",
        TurnStatus::Rejected => "rejected",
        TurnStatus::Empty => "empty",
        TurnStatus::Failed => "failed",
    }
}

const fn outcome(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Answered => "answered",
        CallOutcome::Failed => "failed",
        CallOutcome::Refused => "was refused",
        CallOutcome::Cancelled => "was cancelled",
        CallOutcome::Interrupted => "was interrupted",
        CallOutcome::Trapped => "trapped",
        CallOutcome::OverLimit => "went over a limit",
        CallOutcome::TimedOut => "timed out",
        CallOutcome::HostFault => "could not be run",
    }
}

fn used(used: &Used) -> String {
    format!("{}@{}", used.name, hex(&used.digest))
}

fn short(digest: &Digest) -> String {
    format!("sha256:{}", hex(digest))
}

/// The first eight digits: enough to tell contents apart.
fn hex(digest: &Digest) -> String {
    digest.to_string().chars().skip("sha256:".len()).take(8).collect()
}

/// Conversations as a table with a heading, in the manner of `kubectl get`; `wide` adds what rarely matters.
#[must_use]
pub fn table(conversations: &[wire::Conversation], namespaces: bool, wide: bool) -> String {
    let row = |one: &wire::Conversation| {
        let mut row =
            vec![one.name.clone(), state(one), one.mode.clone(), one.model.clone(), one.tail.to_string(), one.usage.cost.to_string()];
        if namespaces {
            row.insert(0, one.namespace.clone());
        }
        if wide {
            let tokens = one.usage.input.saturating_add(one.usage.cache_read).saturating_add(one.usage.cache_write);
            row.extend([one.agent.clone(), one.skills.join(","), tokens.to_string(), one.usage.output.to_string(), one.id.to_string()]);
        }
        row.push(one.title.clone().unwrap_or_default());
        row.iter().map(|cell| shown(cell).replace('\n', " ")).collect::<Vec<_>>()
    };
    let mut heading = vec!["NAME", "STATE", "MODE", "MODEL", "EVENTS", "COST"];
    if namespaces {
        heading.insert(0, "NAMESPACE");
    }
    if wide {
        heading.extend(["AGENT", "SKILLS", "IN", "OUT", "ID"]);
    }
    heading.push("TITLE");
    let rows: Vec<Vec<String>> =
        std::iter::once(heading.into_iter().map(str::to_owned).collect()).chain(conversations.iter().map(row)).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}   ", width = *width));
        cells.collect::<String>().trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn state(conversation: &wire::Conversation) -> String {
    // Input that no turn has taken up yet looks like work, not like rest.
    if conversation.pending && conversation.state == "idle" { "waiting".to_owned() } else { conversation.state.clone() }
}

/// `text` with every character that a terminal might obey shown by its number; line feeds stay, tabs become spaces.
#[must_use]
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").chars() {
        match character {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}' => {
                out.extend(character.escape_unicode());
            }
            _ if character.is_control() => out.extend(character.escape_unicode()),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests;
