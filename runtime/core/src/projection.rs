//! What a model request may hold. A request names log entries and carries no history text, so the host can hold it against
//! the log: complete, in order, every user message word for word, no call apart from its result. Pure.
//!
//! A log keeps the order in which things happened; a request shows the order in which the model met them. They differ where
//! input came in while the model was speaking or its calls were running: such input follows that message and its results.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::fold::Session;
use crate::id::{Digest, Seq, SeqRange};
use crate::outline::{Heading, Role, within};

#[cfg(test)]
mod tests;

/// The longest system prompt, all parts together, in bytes.
pub const SYSTEM_BYTES: usize = 512 << 10;
/// The most parts of a system prompt.
pub const SYSTEM_PARTS: usize = 64;

/// A request as an agent makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Request {
    /// Parts of the system prompt, in order.
    pub system: Vec<String>,
    /// Names of the tools to offer.
    pub tools: Vec<String>,
    /// What of the log the model sees, in log order.
    pub history: Vec<Item>,
}

/// A part of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// These events, word for word.
    Events(SeqRange),
    /// The summary of this compaction, in place of all spans that it names.
    Compaction(Seq),
}

/// One thing that the model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The text of this event.
    Event(Seq),
    /// The summary of this compaction, where the first of its spans was.
    Summary(Seq),
}

/// A request that holds against the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// What the model is shown, in order.
    pub entries: Vec<Entry>,
    /// The last event covered: [`crate::event::AssistantMessage::through`] of the answer.
    pub through: Seq,
}

/// Why a request is not a projection of the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The system prompt is too long or in too many parts.
    #[error("the system prompt has {parts} parts and {bytes} bytes; {SYSTEM_PARTS} and {SYSTEM_BYTES} are allowed")]
    System {
        /// How many parts it has.
        parts: usize,
        /// Of all parts.
        bytes: usize,
    },
    /// A tool is not among those that the conversation's mode lists.
    #[error("tool {name:?} is not listed")]
    UnlistedTool {
        /// Its name, cut to 64 characters.
        name: String,
    },
    /// A tool is offered twice.
    #[error("tool {name:?} is offered twice")]
    ToolTwice {
        /// Its name.
        name: String,
    },
    /// Calls of an earlier message have no results yet.
    #[error("message {message} has calls without a result: dispatch it first")]
    OpenCalls {
        /// Their message.
        message: Seq,
    },
    /// A range is empty, reversed, or leaves the log.
    #[error("item {item}: {}..={} is reversed or leaves the log, which ends at {tail}", range.first, range.last)]
    Range {
        /// Its place in the history, from 0.
        item: usize,
        /// The range.
        range: SeqRange,
        /// The log's end.
        tail: Seq,
    },
    /// An item names as a compaction what is none.
    #[error("item {item}: event {seq} is not a compaction")]
    NotACompaction {
        /// Its place in the history, from 0.
        item: usize,
        /// What it names.
        seq: Seq,
    },
    /// An item does not begin after the one in front of it.
    #[error("item {item} begins at event {first}, not after the item in front of it")]
    Order {
        /// Its place in the history, from 0.
        item: usize,
        /// Its first event.
        first: Seq,
    },
    /// An event is covered twice.
    #[error("event {seq} is covered twice")]
    Twice {
        /// The event.
        seq: Seq,
    },
    /// An event that the request has to cover is not covered.
    #[error("event {seq} is not covered")]
    Missing {
        /// The first such event.
        seq: Seq,
    },
    /// The model would be shown nothing, or nothing after its own last words.
    #[error("there is nothing for the model to answer")]
    NothingToAnswer,
}

/// Holds `request` against the log; `listed` names the tools that the conversation's mode lets the agent see.
///
/// Together the items cover the log from event 1 to its end, each event once. Only input at the very end may be left out: it
/// may have come in after the agent looked, and the agent meets it at its next step. What the model never sees is covered
/// like everything else. A compaction's spans are whole rounds without user messages already, because the log takes no other;
/// so a request that covers each event once splits no round and leaves out no user message.
///
/// # Errors
/// The first rule that the request breaks, with the item or event that breaks it.
pub fn check(session: &Session, listed: &BTreeSet<&str>, request: &Request) -> Result<Projection, Error> {
    system(&request.system)?;
    tools(listed, &request.tools)?;
    if let Some(open) = session.open().first() {
        return Err(Error::OpenCalls { message: open.message });
    }
    let outline = session.outline();
    let pieces = pieces(outline, &request.history)?;
    let through = covered(outline, &pieces)?;
    let entries = entries(outline, &pieces);
    match entries.last().map(|entry| role(outline, *entry)) {
        None | Some(Some(Role::Message { .. })) => Err(Error::NothingToAnswer),
        Some(_) => Ok(Projection { entries, through }),
    }
}

/// Of what a model is shown: system prompt, tools and entries. The log never changes, so the entries' numbers stand for their
/// text; the same request over the same log has the same digest, whenever it is made.
#[must_use]
pub fn digest(request: &Request, entries: &[Entry]) -> Digest {
    Digest::of_json(&(&request.system, &request.tools, entries))
}

/// The usual history of a log, from event 1 on: all of it, with each compaction in force in place of what it stands for.
/// [`check`] accepts it wherever it accepts any.
#[must_use]
pub fn history(outline: &[Heading]) -> Vec<Item> {
    let mut gaps = Vec::new();
    for record in in_force(outline) {
        let mut place = Some(Item::Compaction(record.seq));
        gaps.extend(record.spans.iter().map(|span| (*span, place.take())));
    }
    gaps.sort_unstable_by_key(|(span, _)| span.first);
    let mut items = Vec::new();
    let mut next = Seq(1);
    let tail = outline.last().map_or(Seq::ZERO, |last| last.seq);
    for (span, item) in gaps.into_iter().chain([(SeqRange { first: tail.next(), last: tail.next() }, None)]) {
        if next < span.first {
            items.push(Item::Events(SeqRange { first: next, last: Seq(span.first.0.saturating_sub(1)) }));
        }
        items.extend(item);
        next = span.last.next();
    }
    items
}

/// A compaction that requests use.
pub(crate) struct InForce<'a> {
    pub seq: Seq,
    pub spans: &'a [SeqRange],
    /// Of its summary.
    pub bytes: u64,
}

/// The compactions in force, newest first: each one that stands for nothing a newer one stands for.
pub(crate) fn in_force(outline: &[Heading]) -> Vec<InForce<'_>> {
    let mut records: Vec<InForce<'_>> = Vec::new();
    for heading in outline.iter().rev() {
        let Role::Compaction { spans } = &heading.role else { continue };
        let taken = |span: &SeqRange| records.iter().flat_map(|record| record.spans).any(|other| overlap(*span, *other));
        if !spans.iter().any(taken) {
            records.push(InForce { seq: heading.seq, spans, bytes: heading.bytes });
        }
    }
    records
}

const fn overlap(one: SeqRange, other: SeqRange) -> bool {
    one.first.0 <= other.last.0 && other.first.0 <= one.last.0
}

fn system(parts: &[String]) -> Result<(), Error> {
    let bytes = parts.iter().map(String::len).fold(0, usize::saturating_add);
    if parts.len() > SYSTEM_PARTS || bytes > SYSTEM_BYTES {
        return Err(Error::System { parts: parts.len(), bytes });
    }
    Ok(())
}

fn tools(listed: &BTreeSet<&str>, offered: &[String]) -> Result<(), Error> {
    let mut offered_before = BTreeSet::new();
    for name in offered {
        if !listed.contains(name.as_str()) {
            return Err(Error::UnlistedTool { name: name.chars().take(64).collect() });
        }
        if !offered_before.insert(name.as_str()) {
            return Err(Error::ToolTwice { name: name.clone() });
        }
    }
    Ok(())
}

/// A run of events and the compaction that stands for it.
#[derive(Clone, Copy)]
struct Piece {
    run: SeqRange,
    summary: Option<Seq>,
}

/// The runs that the items cover, by their first event.
fn pieces(outline: &[Heading], history: &[Item]) -> Result<Vec<Piece>, Error> {
    let tail = outline.last().map_or(Seq::ZERO, |last| last.seq);
    let mut pieces = Vec::new();
    let mut before = Seq::ZERO;
    for (item, part) in history.iter().enumerate() {
        let begun = pieces.len();
        match *part {
            Item::Events(range) if within(outline, range).is_empty() => return Err(Error::Range { item, range, tail }),
            Item::Events(run) => pieces.push(Piece { run, summary: None }),
            Item::Compaction(seq) => {
                let record = within(outline, SeqRange { first: seq, last: seq }).first();
                let Some(Role::Compaction { spans }) = record.map(|record| &record.role) else {
                    return Err(Error::NotACompaction { item, seq });
                };
                pieces.extend(spans.iter().map(|run| Piece { run: *run, summary: Some(seq) }));
            }
        }
        let first = pieces.get(begun).map_or(before, |piece| piece.run.first);
        if first <= before {
            return Err(Error::Order { item, first });
        }
        before = first;
        if pieces.len() > outline.len() {
            break; // Some event is covered twice: no need to hold the rest in memory.
        }
    }
    pieces.sort_by_key(|piece| piece.run.first);
    Ok(pieces)
}

/// The last event covered, where the pieces cover what they have to.
fn covered(outline: &[Heading], pieces: &[Piece]) -> Result<Seq, Error> {
    let mut through = Seq::ZERO;
    for Piece { run, .. } in pieces {
        if run.first <= through {
            return Err(Error::Twice { seq: run.first });
        }
        if run.first > through.next() {
            return Err(Error::Missing { seq: through.next() });
        }
        through = run.last;
    }
    let missed = outline.iter().rev().take_while(|heading| heading.seq > through);
    if missed.into_iter().any(|heading| heading.turn.is_some()) {
        return Err(Error::Missing { seq: through.next() });
    }
    Ok(through)
}

/// What the pieces show, in the order in which the model met it.
fn entries(outline: &[Heading], pieces: &[Piece]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut summarised = BTreeSet::new();
    let mut round_end = 0;
    for piece in pieces {
        if let Some(seq) = piece.summary {
            if summarised.insert(seq) {
                entries.push(Entry::Summary(seq));
            }
            continue;
        }
        for heading in within(outline, piece.run) {
            let entry = Entry::Event(heading.seq);
            match heading.role {
                Role::Message { through, .. } => {
                    let late = entries.iter().rev().take_while(|entry| is_input_after(outline, **entry, through)).count();
                    round_end = entries.len() - late;
                    entries.insert(round_end, entry);
                    round_end += 1;
                }
                Role::Answer { .. } => {
                    entries.insert(round_end, entry);
                    round_end += 1;
                }
                Role::User | Role::Shown => entries.push(entry),
                Role::Hidden | Role::Compaction { .. } => {}
            }
        }
    }
    entries
}

fn is_input_after(outline: &[Heading], entry: Entry, through: Seq) -> bool {
    matches!(entry, Entry::Event(seq) if seq > through) && role(outline, entry) == Some(&Role::User)
}

fn role(outline: &[Heading], entry: Entry) -> Option<&Role> {
    let (Entry::Event(seq) | Entry::Summary(seq)) = entry;
    within(outline, SeqRange { first: seq, last: seq }).first().map(|heading| &heading.role)
}
