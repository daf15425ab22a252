//! Compaction: which exchanges of a long log a summary should stand for (the agent asks), and whether a proposed one may
//! stand (the host asks). Pure; the summary's text is written elsewhere, and the log itself is never edited.
//!
//! A *round* is what stays together: a message of the model with the results of its calls, or any other single text that no
//! user wrote. User messages are never summarised, so a span ends before one.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Compaction;
use crate::id::{Seq, SeqRange};
use crate::outline::{Heading, Role, within};
use crate::projection;
use crate::tool;

#[cfg(test)]
mod tests;

/// The longest summary, in bytes: what replaces much must itself be short.
pub const SUMMARY_BYTES: usize = 64 << 10;

/// The most spans of one compaction. A span ends at a user's message, and a log with more of those than this has other
/// troubles.
pub const SPANS: usize = 4096;

/// Why a compaction may not stand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It names no span, or too many.
    #[error("it names {0} spans; 1 to {SPANS} are allowed")]
    Spans(usize),
    /// A span is reversed, leaves the log, or does not come after the one before it.
    #[error("span {}..={} is reversed, leaves the log, or does not come after the one before it", .0.first, .0.last)]
    Span(SeqRange),
    /// A span holds a user's message.
    #[error("event {0} is a user's message and is never summarised")]
    UserMessage(Seq),
    /// The spans hold a message without all results of its calls, or a result without its message.
    #[error("the spans split message {0} from the results of its calls")]
    Split(Seq),
    /// The spans hold nothing that the model sees.
    #[error("the spans hold nothing that the model sees")]
    Nothing,
    /// The summary is blank.
    #[error("the summary is blank")]
    BlankSummary,
    /// The summary is too long.
    #[error("the summary has {0} bytes; {SUMMARY_BYTES} are allowed")]
    LongSummary(usize),
}

/// Whether `compaction` may follow the log that `outline` tells, from event 1 on.
///
/// # Errors
/// The first rule that it breaks.
pub fn check(outline: &[Heading], compaction: &Compaction) -> Result<(), Error> {
    if compaction.summary.trim().is_empty() {
        return Err(Error::BlankSummary);
    }
    if compaction.summary.len() > SUMMARY_BYTES {
        return Err(Error::LongSummary(compaction.summary.len()));
    }
    if compaction.spans.is_empty() || compaction.spans.len() > SPANS {
        return Err(Error::Spans(compaction.spans.len()));
    }
    let mut before = Seq::ZERO;
    for span in &compaction.spans {
        if span.first <= before || within(outline, *span).is_empty() {
            return Err(Error::Span(*span));
        }
        before = span.last;
    }
    whole(compaction.spans.iter().flat_map(|span| within(outline, *span)))
}

/// Whether `covered`, in log order, holds whole rounds only.
fn whole<'a>(covered: impl Iterator<Item = &'a Heading>) -> Result<(), Error> {
    let mut owed: BTreeMap<Seq, u32> = BTreeMap::new();
    let mut visible = false;
    for heading in covered {
        visible |= heading.visible();
        match &heading.role {
            Role::User => return Err(Error::UserMessage(heading.seq)),
            Role::Message { calls, .. } => drop(owed.insert(heading.seq, *calls)),
            Role::Answer { message, .. } => match owed.get_mut(message) {
                Some(calls) => *calls = calls.saturating_sub(1),
                None => return Err(Error::Split(*message)),
            },
            Role::Shown | Role::Hidden | Role::Compaction { .. } => {}
        }
    }
    match owed.into_iter().find(|(_, calls)| *calls > 0) {
        Some((message, _)) => Err(Error::Split(message)),
        None if visible => Ok(()),
        None => Err(Error::Nothing),
    }
}

/// What a plan keeps and what it aims for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Rounds at the log's start that stay word for word.
    pub head: usize,
    /// Rounds at its end that stay word for word.
    pub tail: usize,
    /// Bytes of text that the history may have afterwards, the new summary counted as long as those that it replaces.
    pub target: u64,
}

/// What one summary should stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The spans to summarise; [`check`] accepts them.
    pub spans: Vec<SeqRange>,
    /// The earlier compactions whose spans are among them, oldest first: the new summary has to say what theirs said.
    pub replaces: Vec<Seq>,
    /// The spans that no earlier summary stands for: what has to be read and added to those.
    pub fresh: Vec<SeqRange>,
}

/// What to summarise so that the history fits: the oldest rounds between head and tail, up to the first boundary at which the
/// rest is within the target, and with them all that earlier compactions stand for. So one summary grows, and there are never
/// two in force. The round that holds the latest [`tool::TODO`] result stays word for word.
///
/// None where the history fits already or nothing more can be summarised.
#[must_use]
pub fn plan(outline: &[Heading], keep: Keep) -> Option<Plan> {
    let replaces = projection::in_force(outline);
    let mut covered: BTreeSet<Seq> =
        replaces.iter().flat_map(|record| record.spans).flat_map(|span| within(outline, *span)).map(|heading| heading.seq).collect();
    let uncovered = outline.iter().filter(|heading| heading.visible() && !covered.contains(&heading.seq));
    let texts = uncovered.map(|heading| heading.bytes).chain(replaces.iter().map(|record| record.bytes));
    let mut left = texts.fold(0, u64::saturating_add);
    let rounds = rounds(outline);
    let middle = keep.head..rounds.len().saturating_sub(keep.tail).max(keep.head);
    let mut chosen = BTreeSet::new();
    for round in rounds.get(middle).unwrap_or_default() {
        if left <= keep.target {
            break;
        }
        if round.settled && !covered.contains(&round.first()) {
            chosen.extend(&round.events);
            left = left.saturating_sub(round.bytes);
        }
    }
    let fresh = spans(outline, &chosen);
    covered.append(&mut chosen);
    let spans = spans(outline, &covered);
    let replaces = replaces.iter().rev().map(|record| record.seq).collect();
    (!fresh.is_empty() && spans.len() <= SPANS).then_some(Plan { spans, replaces, fresh })
}

/// What stays together.
struct Round {
    events: Vec<Seq>,
    bytes: u64,
    /// May be summarised: every call has its result, and the latest list of what is to do is not in it.
    settled: bool,
}

impl Round {
    fn first(&self) -> Seq {
        self.events.first().copied().unwrap_or(Seq::ZERO)
    }
}

/// The log's rounds, oldest first.
fn rounds(outline: &[Heading]) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    let mut open = 0;
    let mut todo = None;
    for heading in outline {
        match &heading.role {
            Role::Message { calls, .. } => {
                rounds.push(Round { events: vec![heading.seq], bytes: heading.bytes, settled: *calls == 0 });
                open = *calls;
            }
            Role::Answer { message, tool } => {
                let Some(round) = rounds.iter_mut().rfind(|round| round.first() == *message) else { continue };
                round.events.push(heading.seq);
                round.bytes = round.bytes.saturating_add(heading.bytes);
                open = open.saturating_sub(1);
                round.settled = open == 0;
                if tool == tool::TODO {
                    todo = Some(*message);
                }
            }
            Role::Shown => rounds.push(Round { events: vec![heading.seq], bytes: heading.bytes, settled: true }),
            Role::User | Role::Hidden | Role::Compaction { .. } => {}
        }
    }
    if let Some(pinned) = rounds.iter_mut().rfind(|round| Some(round.first()) == todo) {
        pinned.settled = false;
    }
    rounds
}

/// The runs of `covered`; what the model never sees does not end a run.
fn spans(outline: &[Heading], covered: &BTreeSet<Seq>) -> Vec<SeqRange> {
    let mut spans: Vec<SeqRange> = Vec::new();
    let mut running = false;
    for heading in outline {
        if covered.contains(&heading.seq) {
            match spans.last_mut().filter(|_| running) {
                Some(span) => span.last = heading.seq,
                None => spans.push(SeqRange { first: heading.seq, last: heading.seq }),
            }
            running = true;
        } else if heading.visible() {
            running = false;
        }
    }
    spans
}
