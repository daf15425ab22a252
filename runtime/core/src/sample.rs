//! Logs for tests: written by hand as one character an event, or at random. Every event goes through the fold.

use proptest::prelude::*;

use crate::compaction::{self, Keep, plan};
use crate::event::{
    AssistantMessage, Body, CallOutcome, CancelRequested, Compaction, Event, Finish, Source, Text, Timestamp, ToolCall, ToolResult,
    TurnEnd, TurnInterrupted, TurnStart, TurnStatus, Used, UserMessage,
};
use crate::fold::{Session, Violation};
use crate::id::{Digest, Seq, SeqRange};
use crate::tool::TODO;
use crate::usage::Usage;

/// A log and its fold.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub events: Vec<Event>,
    pub session: Session,
    /// The size of texts to come.
    bytes: usize,
}

impl Log {
    /// `u`ser message, `x` cancel, `[` start, `]` end, `.` message, `1`-`9` message with so many calls, `t` message that calls
    /// `TodoWrite`, `r`esult of the first open call, `c`ontext, `n`ote, `!` interrupted, `k` compaction of what [`plan`] finds,
    /// `K` compaction of the newest text or round that may be summarised.
    /// `~` before a message: its request had not held the input right before it.
    pub fn of(script: &str) -> Self {
        let mut log = Self { bytes: 10, ..Self::default() };
        let mut late = false;
        for event in script.chars() {
            match event {
                '~' => late = true,
                event => log.event(event, std::mem::take(&mut late)),
            }
        }
        log
    }

    fn event(&mut self, event: char, late: bool) {
        let text = "x".repeat(self.bytes);
        let source = Source::Api;
        let body = match event {
            'u' => Body::UserMessage(UserMessage { text, attachments: Vec::new(), source }),
            'x' => Body::CancelRequested(CancelRequested { source }),
            '[' => start(),
            ']' => self.end(TurnStatus::Completed),
            '.' => self.message(late, &[]),
            't' => self.message(late, &[TODO]),
            '1'..='9' => self.message(late, &["read"; 9][..event as usize - '0' as usize]),
            'r' => self.result(text),
            'c' => Body::Context(Text { text }),
            'n' => Body::Note(Text { text }),
            '!' => Body::TurnInterrupted(TurnInterrupted { attempt: self.session.current().unwrap().attempt + 1, text }),
            'k' => {
                let Some(plan) = plan(self.session.outline(), Keep { head: 1, tail: 1, target: 0 }) else { return };
                Body::Compaction(Compaction { spans: plan.spans, summary: "s".repeat(5) })
            }
            'K' => {
                let Some(spans) = self.newest_round() else { return };
                Body::Compaction(Compaction { spans, summary: "s".repeat(5) })
            }
            other => panic!("no event is written {other:?}"),
        };
        self.add(body).unwrap();
    }

    fn newest_round(&self) -> Option<Vec<SeqRange>> {
        let round = |first: Seq| {
            let belongs = |event: &&Event| event.seq == first || matches!(&event.body, Body::ToolResult(result) if result.message == first);
            self.events.iter().filter(belongs).map(|event| SeqRange { first: event.seq, last: event.seq }).collect()
        };
        let may_stand = |spans: &Vec<SeqRange>| {
            let compaction = Compaction { spans: spans.clone(), summary: "s".to_owned() };
            compaction::check(self.session.outline(), &compaction).is_ok()
        };
        self.events.iter().rev().map(|event| round(event.seq)).find(may_stand)
    }

    /// The event as it would stand at the end of the log.
    pub fn next(&self, body: Body) -> Event {
        let input = matches!(body, Body::UserMessage(_) | Body::CancelRequested(_));
        let turn = match (&body, self.session.current()) {
            (Body::TurnStart(_), None) => Some(self.session.next_turn()),
            (_, current) => current.map(|current| current.number).filter(|_| !input),
        };
        Event { seq: self.session.tail().next(), at: Timestamp(0), turn, body }
    }

    /// The event with this number; none past the end.
    pub fn get(&self, seq: Seq) -> Option<&Event> {
        self.events.get(usize::try_from(seq.0).unwrap().checked_sub(1)?)
    }

    /// Puts the body at the end of the log, by the turn that is going on.
    pub fn add(&mut self, body: Body) -> Result<Seq, Violation> {
        let event = self.next(body);
        self.session.push(&event)?;
        self.events.push(event);
        Ok(self.session.tail())
    }

    pub fn message(&self, late: bool, tools: &[&str]) -> Body {
        let missed = self.events.iter().rev().take_while(|event| late && event.turn.is_none()).count();
        let through = Seq((self.events.len() - missed) as u64);
        let call = |(n, name): (usize, &&str)| ToolCall { id: format!("c{}", n + 1), name: (*name).to_owned(), arguments: "{}".to_owned() };
        Body::AssistantMessage(AssistantMessage {
            text: "x".repeat(self.bytes),
            reasoning: None,
            calls: tools.iter().enumerate().map(call).collect(),
            finish: if tools.is_empty() { Finish::Stop } else { Finish::Calls },
            usage: Usage { steps: 1, input: self.bytes as u64, ..Usage::default() },
            request: Digest::of(b""),
            through,
        })
    }

    pub fn result(&self, text: String) -> Body {
        let open = self.session.open()[0].clone();
        let outcome = CallOutcome::Answered;
        Body::ToolResult(ToolResult { message: open.message, call: open.call.id, name: open.call.name, outcome, text, full: None })
    }

    pub fn end(&self, status: TurnStatus) -> Body {
        Body::TurnEnd(TurnEnd { status, reason: None, usage: self.session.current().unwrap().usage })
    }

    /// A log that ends anywhere.
    pub fn random() -> impl Strategy<Value = Self> {
        prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize), 0..80).prop_map(|choices| {
            let mut log = Self::default();
            for (choice, bytes) in choices {
                let moves = match (log.session.current(), log.session.open()) {
                    (None, _) => &["u", "u", "x", "[", "[", "["][..],
                    (Some(_), []) => &["u", "x", ".", "~.", "u~.", "1", "2", "u~3", "t", "c", "n", "!", "k", "k", "K", "]"][..],
                    (Some(_), _) => &["r", "r", "r", "r", "r", "u", "x", "c", "n"][..],
                };
                log.bytes = bytes;
                let mut late = false;
                for event in choice.get(moves).chars() {
                    match event {
                        '~' => late = true,
                        event => log.event(event, late),
                    }
                }
            }
            log
        })
    }
}

fn start() -> Body {
    let used = |name: &str| Used { name: name.to_owned(), digest: Digest::of(name.as_bytes()) };
    Body::TurnStart(TurnStart { agent: Digest::of(b"agent"), mode: used("agent"), model: used("echo"), skills: Vec::new() })
}
