//! The fold of a log into what the next step needs to know, and the rules that every log keeps. Pure; where the events come
//! from and who may write them is decided elsewhere.

use serde::Serialize;

use crate::compaction;
use crate::event::{AssistantMessage, Body, Event, ToolCall, ToolResult, TurnEnd, TurnInterrupted, TurnStart, TurnStatus};
use crate::id::{Digest, Seq, Turn};
use crate::outline::Heading;
use crate::tool;
use crate::usage::Usage;

#[cfg(test)]
mod tests;

/// A conversation as its log tells it, up to the last event pushed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Session {
    outline: Vec<Heading>,
    current: Option<Current>,
    ended: Vec<Ended>,
    open: Vec<OpenCall>,
    unanswered: Vec<Seq>,
    cancel: Option<Seq>,
    todo: Option<Seq>,
    usage: Usage,
}

/// The turn that is going on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Current {
    /// Its number.
    pub number: Turn,
    /// Its `turn/start`.
    pub start: Seq,
    /// What it runs with.
    pub settings: TurnStart,
    /// 1 at first; above, how often it was begun, as its last `turn/interrupted` says.
    pub attempt: u32,
    /// Messages of the model in it.
    pub steps: u32,
    /// Of those messages.
    pub usage: Usage,
    /// The last event that a request of it covered; `start` before the first.
    pub through: Seq,
}

/// A turn that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// Its number.
    pub number: Turn,
    /// How it ended.
    pub status: TurnStatus,
    /// What it used.
    pub usage: Usage,
}

/// A call of a logged message that has no result yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenCall {
    /// The message that asks for it.
    pub message: Seq,
    /// The call.
    pub call: ToolCall,
}

/// An event that cannot stand where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} ({kind}) breaks a rule of the log: {rule}")]
pub struct Violation {
    /// Its position.
    pub seq: Seq,
    /// Its kind.
    pub kind: &'static str,
    /// What it breaks.
    pub rule: Rule,
}

/// The rules of a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// Positions count up by one.
    #[error("the next event is {expected}")]
    Sequence {
        /// What would have followed.
        expected: Seq,
    },
    /// Input comes from outside a turn.
    #[error("input belongs to no turn")]
    InputInTurn,
    /// Everything else is written by the turn that is going on.
    #[error("no turn is going on")]
    NoTurn,
    /// Everything else is written by the turn that is going on.
    #[error("turn {current} is going on")]
    OtherTurn {
        /// That turn.
        current: Turn,
    },
    /// One turn at a time, numbered from 1 without gaps.
    #[error("turn {current} has not ended")]
    StartInTurn {
        /// The turn that is going on.
        current: Turn,
    },
    /// One turn at a time, numbered from 1 without gaps.
    #[error("the next turn is {expected}")]
    TurnNumber {
        /// What would have followed.
        expected: Turn,
    },
    /// A message's calls have their results before the model or the turn goes on.
    #[error("message {message} has calls without a result: {calls}")]
    OpenCalls {
        /// Their message.
        message: Seq,
        /// How many are left.
        calls: usize,
    },
    /// Within a message, ids tell calls apart.
    #[error("two calls have the id {id:?}")]
    CallTwice {
        /// The id.
        id: String,
    },
    /// A result answers a call that waits for one, once.
    #[error("no call {call:?} of message {message} waits for a result")]
    NotOpen {
        /// What the result names as its message.
        message: Seq,
        /// What the result names as its call.
        call: String,
    },
    /// Results stand in call order, whichever ended first.
    #[error("the result of call {expected:?} comes first")]
    CallOrder {
        /// The call whose turn it is.
        expected: String,
    },
    /// A result bears the name of the tool that was asked for.
    #[error("the call is for {asked:?}")]
    CallName {
        /// The tool's name in the call.
        asked: String,
    },
    /// A message's request covers all that was there, but for input that came while the model was speaking.
    #[error("its request cannot have ended at event {through}")]
    Through {
        /// Where it says that it ended.
        through: Seq,
    },
    /// Attempts count up.
    #[error("the last attempt was {last}")]
    Attempt {
        /// The attempt that was interrupted.
        last: u32,
    },
    /// The end of a turn carries what its steps add up to.
    #[error("its steps add up to {sum:?}")]
    TurnUsage {
        /// The sum.
        sum: Usage,
    },
    /// A compaction stands for whole exchanges and for no user's message.
    #[error("{0}")]
    Compaction(compaction::Error),
}

impl Session {
    /// The fold of a whole log.
    ///
    /// # Errors
    /// The first event that breaks a rule.
    pub fn of(events: &[Event]) -> Result<Self, Violation> {
        let mut session = Self::default();
        events.iter().try_for_each(|event| session.push(event))?;
        Ok(session)
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// When the event breaks a rule; the session is then as it was.
    pub fn push(&mut self, event: &Event) -> Result<(), Violation> {
        self.check(event)?;
        self.apply(event);
        self.outline.push(Heading::of(event));
        Ok(())
    }

    /// Whether [`Session::push`] would take the event.
    ///
    /// # Errors
    /// When the event breaks a rule.
    pub fn check(&self, event: &Event) -> Result<(), Violation> {
        self.rules(event).map_err(|rule| Violation { seq: event.seq, kind: event.body.kind(), rule })
    }

    /// The last event; [`Seq::ZERO`] before the first.
    #[must_use]
    pub fn tail(&self) -> Seq {
        self.outline.last().map_or(Seq::ZERO, |last| last.seq)
    }

    /// The turn that is going on.
    #[must_use]
    pub const fn current(&self) -> Option<&Current> {
        self.current.as_ref()
    }

    /// The turns that are over, in order.
    #[must_use]
    pub fn ended(&self) -> &[Ended] {
        &self.ended
    }

    /// The number of the next turn.
    #[must_use]
    pub fn next_turn(&self) -> Turn {
        let begun = self.ended.last().map_or(0, |last| last.number.0);
        Turn(begun.saturating_add(1).saturating_add(u32::from(self.current.is_some())))
    }

    /// What all steps so far used, those of the turn that is going on included.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// The calls that have no result, in call order; all of one message.
    #[must_use]
    pub fn open(&self) -> &[OpenCall] {
        &self.open
    }

    /// The user messages that no finished turn has answered, oldest first. While a turn goes on they are what it answers, and
    /// perhaps what came in since; between turns, what the next turn is for. A turn's end answers what was there at its start
    /// and what its requests held; and what came before a request to stop it, because the person who stopped it knew of that.
    #[must_use]
    pub fn unanswered(&self) -> &[Seq] {
        &self.unanswered
    }

    /// What [`Session::unanswered`] would be if the turn ended now: where it is not empty, the next turn is due at once.
    #[must_use]
    pub fn left_over(&self) -> &[Seq] {
        let Some(current) = &self.current else { return &self.unanswered };
        let answered = current.through.max(self.cancel.unwrap_or(Seq::ZERO));
        self.after(answered)
    }

    /// The user messages that came since the turn began and that no request of it has held, oldest first.
    #[must_use]
    pub fn nudges(&self) -> &[Seq] {
        let through = self.current.as_ref().map_or(self.tail(), |current| current.through);
        self.after(through)
    }

    /// The unanswered messages after `seq`.
    fn after(&self, seq: Seq) -> &[Seq] {
        let before = self.unanswered.partition_point(|message| *message <= seq);
        self.unanswered.get(before..).unwrap_or_default()
    }

    /// Whether somebody asked to stop the turn that is going on, or the one that is due: a request that comes after the last
    /// unanswered message and before the turn begins counts for that turn.
    #[must_use]
    pub const fn cancel_requested(&self) -> bool {
        self.cancel.is_some()
    }

    /// The latest result of the tool [`tool::TODO`], which [`compaction::plan`] leaves word for word.
    #[must_use]
    pub const fn todo(&self) -> Option<Seq> {
        self.todo
    }

    /// The log's outline, from event 1 on.
    #[must_use]
    pub fn outline(&self) -> &[Heading] {
        &self.outline
    }

    /// Equal for equal logs, whoever folds them and in whatever portions.
    #[must_use]
    pub fn state_hash(&self) -> Digest {
        Digest::of_json(self)
    }

    fn rules(&self, event: &Event) -> Result<(), Rule> {
        let expected = self.tail().next();
        if event.seq != expected {
            return Err(Rule::Sequence { expected });
        }
        match &event.body {
            Body::UserMessage(_) | Body::CancelRequested(_) => event.turn.map_or(Ok(()), |_| Err(Rule::InputInTurn)),
            Body::TurnStart(_) => self.may_start(event.turn),
            Body::AssistantMessage(message) => {
                self.of_current(event.turn)?;
                self.no_open_calls()?;
                self.message(event.seq, message)
            }
            Body::ToolResult(result) => {
                self.of_current(event.turn)?;
                self.result(result)
            }
            Body::Context(_) | Body::Note(_) => self.of_current(event.turn).map(drop),
            Body::Compaction(compaction) => {
                self.of_current(event.turn)?;
                compaction::check(&self.outline, compaction).map_err(Rule::Compaction)
            }
            Body::TurnInterrupted(interrupted) => {
                let current = self.of_current(event.turn)?;
                self.no_open_calls()?;
                counts_up(current, interrupted)
            }
            Body::TurnEnd(end) => {
                let current = self.of_current(event.turn)?;
                self.no_open_calls()?;
                if end.usage == current.usage { Ok(()) } else { Err(Rule::TurnUsage { sum: current.usage }) }
            }
        }
    }

    fn may_start(&self, turn: Option<Turn>) -> Result<(), Rule> {
        if let Some(current) = &self.current {
            return Err(Rule::StartInTurn { current: current.number });
        }
        let expected = self.next_turn();
        if turn == Some(expected) { Ok(()) } else { Err(Rule::TurnNumber { expected }) }
    }

    fn of_current(&self, turn: Option<Turn>) -> Result<&Current, Rule> {
        let current = self.current.as_ref().ok_or(Rule::NoTurn)?;
        if turn == Some(current.number) { Ok(current) } else { Err(Rule::OtherTurn { current: current.number }) }
    }

    fn no_open_calls(&self) -> Result<(), Rule> {
        self.open.first().map_or(Ok(()), |first| Err(Rule::OpenCalls { message: first.message, calls: self.open.len() }))
    }

    fn message(&self, seq: Seq, message: &AssistantMessage) -> Result<(), Rule> {
        let missed = self.outline.iter().rev().take_while(|heading| heading.seq > message.through);
        if message.through >= seq || missed.into_iter().any(|heading| heading.turn.is_some()) {
            return Err(Rule::Through { through: message.through });
        }
        let mut ids: Vec<&str> = message.calls.iter().map(|call| call.id.as_str()).collect();
        ids.sort_unstable();
        let twice = ids.array_windows().find(|[one, other]| one == other);
        twice.map_or(Ok(()), |[id, _]| Err(Rule::CallTwice { id: (*id).to_owned() }))
    }

    fn result(&self, result: &ToolResult) -> Result<(), Rule> {
        let answers = |open: &OpenCall| open.message == result.message && open.call.id == result.call;
        match self.open.iter().position(answers).and_then(|position| Some((position, self.open.first()?))) {
            None => Err(Rule::NotOpen { message: result.message, call: result.call.clone() }),
            Some((0, first)) if first.call.name == result.name => Ok(()),
            Some((0, first)) => Err(Rule::CallName { asked: first.call.name.clone() }),
            Some((_, first)) => Err(Rule::CallOrder { expected: first.call.id.clone() }),
        }
    }

    fn apply(&mut self, event: &Event) {
        match &event.body {
            Body::UserMessage(_) => {
                self.unanswered.push(event.seq);
                if self.current.is_none() {
                    self.cancel = None;
                }
            }
            Body::CancelRequested(_) => {
                if self.current.is_some() || !self.unanswered.is_empty() {
                    self.cancel = Some(event.seq);
                }
            }
            Body::TurnStart(settings) => self.start(event, settings),
            Body::AssistantMessage(message) => self.step(event.seq, message),
            Body::ToolResult(result) => {
                self.open.remove(0);
                if result.name == tool::TODO {
                    self.todo = Some(event.seq);
                }
            }
            Body::TurnInterrupted(interrupted) => {
                if let Some(current) = &mut self.current {
                    current.attempt = interrupted.attempt;
                }
            }
            Body::TurnEnd(end) => self.end(end),
            Body::Context(_) | Body::Note(_) | Body::Compaction(_) => {}
        }
    }

    fn start(&mut self, event: &Event, settings: &TurnStart) {
        let number = self.next_turn();
        let settings = settings.clone();
        let usage = Usage::default();
        self.current = Some(Current { number, start: event.seq, settings, attempt: 1, steps: 0, usage, through: event.seq });
    }

    fn step(&mut self, seq: Seq, message: &AssistantMessage) {
        self.open = message.calls.iter().map(|call| OpenCall { message: seq, call: call.clone() }).collect();
        self.usage = self.usage.plus(message.usage);
        if let Some(current) = &mut self.current {
            current.steps = current.steps.saturating_add(1);
            current.usage = current.usage.plus(message.usage);
            current.through = message.through;
        }
    }

    fn end(&mut self, end: &TurnEnd) {
        let left_over = self.left_over().to_vec();
        let Some(current) = self.current.take() else { return };
        self.unanswered = left_over;
        self.cancel = None;
        self.ended.push(Ended { number: current.number, status: end.status, usage: current.usage });
    }
}

const fn counts_up(current: &Current, interrupted: &TurnInterrupted) -> Result<(), Rule> {
    if interrupted.attempt > current.attempt { Ok(()) } else { Err(Rule::Attempt { last: current.attempt }) }
}
