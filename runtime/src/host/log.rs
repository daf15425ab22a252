//! `log`: the conversation's log, as the agent may see and extend it.

use thetis_core::event::{Body, Compaction, Event, Text};
use thetis_core::id::{Seq, SeqRange};
use thetis_core::outline::{Heading, Role};

use super::turn;
use crate::bindings::thetis::grip::{log, types};
use crate::guest::Ctx;
use crate::turn::NotAppended;

/// Most bytes of bodies that one call to `read` returns.
const READ_BYTES: usize = 1 << 20;
/// Longest text that an agent may add in one event, in bytes.
const ADDITION_BYTES: usize = 256 << 10;

impl log::Host for Ctx {
    async fn tail(&mut self) -> wasmtime::Result<u64> {
        Ok(turn(self)?.fold.tail().0)
    }

    async fn outline(&mut self, range: types::SeqRange) -> wasmtime::Result<Result<Vec<log::Heading>, log::Error>> {
        let outline = turn(self)?.fold.outline();
        Ok(within(outline, range).map(|outline| outline.iter().map(heading).collect()))
    }

    async fn read(&mut self, range: types::SeqRange) -> wasmtime::Result<Result<Vec<log::Entry>, log::Error>> {
        let events = &turn(self)?.events;
        Ok(within(events, range).and_then(|events| entries(events, range)))
    }

    async fn append(&mut self, addition: log::Addition) -> wasmtime::Result<Result<u64, log::Error>> {
        let (body, bytes) = body(addition);
        if bytes > ADDITION_BYTES {
            return Ok(Err(log::Error::OverLimit(format!("the text has {bytes} bytes; {ADDITION_BYTES} are allowed"))));
        }
        let turn = turn(self)?;
        match turn.add(body).await {
            Ok(seq) => Ok(Ok(seq.0)),
            Err(NotAppended::Cancelled) => Ok(Err(log::Error::Cancelled)),
            Err(NotAppended::Broken(violation)) => Ok(Err(log::Error::Refused(violation.to_string()))),
            Err(NotAppended::Stop(stop)) => Err(turn.stop(stop)),
        }
    }

    async fn nudges(&mut self) -> wasmtime::Result<Vec<u64>> {
        Ok(turn(self)?.fold.nudges().iter().map(|seq| seq.0).collect())
    }
}

/// The part of the log that `range` names; numbers are places from 1.
fn within<T>(log: &[T], range: types::SeqRange) -> Result<&[T], log::Error> {
    let place = |seq: u64| usize::try_from(seq).ok();
    let part =
        place(range.first).and_then(|first| first.checked_sub(1)).zip(place(range.last)).and_then(|(first, last)| log.get(first..last));
    part.filter(|part| !part.is_empty()).ok_or_else(|| {
        log::Error::OutOfRange(format!("{}..={} is reversed or leaves the log, which ends at {}", range.first, range.last, log.len()))
    })
}

fn entries(events: &[Event], range: types::SeqRange) -> Result<Vec<log::Entry>, log::Error> {
    let mut bytes = 0;
    let mut entries = Vec::with_capacity(events.len());
    for event in events {
        let body = event.body.encode();
        bytes += body.len();
        if bytes > READ_BYTES {
            let text = format!("events {}..={} hold more than {READ_BYTES} bytes: read fewer at a time", range.first, range.last);
            return Err(log::Error::OverLimit(text));
        }
        let (turn, kind) = (event.turn.map(|turn| turn.0), event.body.kind().to_owned());
        entries.push(log::Entry { seq: event.seq.0, at: event.at.0, turn, kind, body });
    }
    Ok(entries)
}

/// What the log takes, and the size of its text.
fn body(addition: log::Addition) -> (Body, usize) {
    match addition {
        log::Addition::Context(text) => {
            let bytes = text.len();
            (Body::Context(Text { text }), bytes)
        }
        log::Addition::Note(text) => {
            let bytes = text.len();
            (Body::Note(Text { text }), bytes)
        }
        log::Addition::Compaction(compaction) => {
            let bytes = compaction.summary.len();
            let spans = compaction.spans.iter().map(|span| SeqRange { first: Seq(span.first), last: Seq(span.last) }).collect();
            (Body::Compaction(Compaction { spans, summary: compaction.summary }), bytes)
        }
    }
}

fn heading(heading: &Heading) -> log::Heading {
    let role = match &heading.role {
        Role::User => log::Role::User,
        Role::Message { calls, through } => log::Role::Message(log::Asked { calls: *calls, through: through.0 }),
        Role::Answer { message, tool } => log::Role::Answer(log::Answered { message: message.0, tool: tool.clone() }),
        Role::Shown => log::Role::Shown,
        Role::Hidden => log::Role::Hidden,
        Role::Compaction { spans } => {
            log::Role::Compaction(spans.iter().map(|span| types::SeqRange { first: span.first.0, last: span.last.0 }).collect())
        }
    };
    log::Heading { seq: heading.seq.0, turn: heading.turn.map(|turn| turn.0), role, bytes: heading.bytes }
}
