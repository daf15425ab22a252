//! How a call into a guest ended. Breaker, log entry and retry read this, never an error's text.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How a call into a guest ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome<T> {
    /// The guest returned a value.
    Answered(T),
    /// The guest returned an error of its own; the text is the guest's and hostile.
    Refused(String),
    /// The guest trapped; the text is for people.
    Trapped(String),
    /// A limit stopped it: which one.
    OverLimit(Limit),
    /// It used up its time: which of the two clocks.
    TimedOut(Clock),
    /// The caller gave up on it.
    Cancelled,
    /// Something on our side failed; the guest is not to blame.
    HostFault(String),
}

/// A limit on what a guest may hold or hand over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Linear memory.
    Memory,
    /// Table elements.
    Table,
    /// Component handles.
    Handles,
    /// Bytes passed to or from the host in one call.
    HostCall,
    /// Bytes returned, or written to standard output and error.
    Output,
    /// Depth of the stack.
    Stack,
}

/// Which clock ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The whole call's budget, host calls included.
    Budget,
    /// Time without a call to the host.
    Slice,
}

impl fmt::Display for Limit {
    /// What there was too much of.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Table => "table space",
            Self::Handles => "resources at once",
            Self::HostCall => "data in one call to the host",
            Self::Output => "output",
            Self::Stack => "stack",
        })
    }
}

impl<T> Outcome<T> {
    /// What `next` makes of the answer; every other ending stays as it is.
    pub fn and_then<U>(self, next: impl FnOnce(T) -> Outcome<U>) -> Outcome<U> {
        match self {
            Self::Answered(answer) => next(answer),
            Self::Refused(text) => Outcome::Refused(text),
            Self::Trapped(text) => Outcome::Trapped(text),
            Self::OverLimit(limit) => Outcome::OverLimit(limit),
            Self::TimedOut(clock) => Outcome::TimedOut(clock),
            Self::Cancelled => Outcome::Cancelled,
            Self::HostFault(text) => Outcome::HostFault(text),
        }
    }

    /// The answer changed by `change`; every other ending stays as it is.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        self.and_then(|answer| Outcome::Answered(change(answer)))
    }

    /// How it ended, as what is said of the guest: "the tool …".
    #[must_use]
    pub fn ending(&self) -> Cow<'_, str> {
        match self {
            Self::Answered(_) => "answered".into(),
            Self::Refused(text) => format!("refused: {text}").into(),
            Self::Trapped(text) => format!("crashed: {text}").into(),
            Self::OverLimit(limit) => format!("was stopped: it used too much {limit}").into(),
            Self::TimedOut(Clock::Budget) => "was stopped: it took too long".into(),
            Self::TimedOut(Clock::Slice) => "was stopped: it computed too long without calling the host".into(),
            Self::Cancelled => "was cancelled".into(),
            Self::HostFault(text) => format!("could not be run: {text}").into(),
        }
    }
}
