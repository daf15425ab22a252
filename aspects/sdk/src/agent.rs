//! Agents: from what the author writes to what the world `agent-aspect` exports, and the host's words with typed events.

use thetis_core::event::{Compaction, Event, Timestamp};
use thetis_core::id::{self, Seq, SeqRange};
use thetis_core::outline::{Heading, Role};
use thetis_core::projection;

pub use bindings::exports::thetis::grip::agent::{Ending, Turn};

#[expect(clippy::pedantic, missing_docs, reason = "generated")]
pub mod bindings {
    //! The world `agent-aspect`, as `wit-bindgen` writes it.
    wit_bindgen::generate!({
        path: "../../wit",
        world: "agent-aspect",
        pub_export_macro: true,
        export_macro_name: "export_agent",
        default_bindings_module: "thetis_sdk::agent::bindings",
    });
}

/// What the conversation runs with.
pub mod config {
    pub use super::bindings::thetis::grip::config::{Mode, Model, Settings, current};
}

/// The conversation's log.
pub mod log {
    pub use super::bindings::thetis::grip::log::{
        Addition, Answered, Asked, Compaction, Entry, Error, Heading, Role, append, nudges, outline, read, tail,
    };
    pub use super::bindings::thetis::grip::types::SeqRange;
}

/// The model.
pub mod model {
    pub use super::bindings::thetis::grip::model::{Finish, Item, Reply, Request, StepError, step};
}

/// The conversation's notes; only where the Aspect grants them.
pub mod notes {
    pub use super::bindings::thetis::grip::notes::{Error, get, keys, put};
}

/// The skills attached to the conversation.
pub mod skills {
    pub use super::bindings::thetis::grip::skills::{Skill, attached};
}

/// The tools that the conversation's mode allows.
pub mod tools {
    pub use super::bindings::thetis::grip::tools::{Description, DispatchError, Replay, dispatch, listed};
}

/// An agent. `thetis_sdk::export_agent!(TheType);` makes the component out of it.
pub trait Agent {
    /// Runs a turn to its end. Every error of the host's functions converts into [`Stop`], so `?` obeys the host.
    fn run(turn: Turn) -> Result<Ending, Stop>;

    /// Called before a revision goes live; outside a conversation, so the host's functions are of no use here.
    fn health() -> Result<(), String> {
        Ok(())
    }
}

/// Why a turn ends before the agent is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The turn goes on later, from the log.
    Parked,
    /// Cancelled, or the claim was lost.
    Cancelled,
    /// It cannot go on; the text is for people.
    Failed(String),
}

impl<A: Agent> bindings::exports::thetis::grip::agent::Guest for A {
    fn run_turn(turn: Turn) -> Result<Ending, String> {
        match A::run(turn) {
            Ok(ending) => Ok(ending),
            Err(Stop::Parked) => Ok(Ending::Parked),
            Err(Stop::Cancelled) => Ok(Ending::Cancelled),
            Err(Stop::Failed(why)) => Err(why),
        }
    }

    fn health() -> Result<(), String> {
        A::health()
    }

    fn describe_tools() -> Vec<tools::Description> {
        tools::listed()
    }
}

impl From<log::Error> for Stop {
    fn from(error: log::Error) -> Self {
        match error {
            log::Error::OutOfRange(why) | log::Error::Refused(why) | log::Error::OverLimit(why) => Self::Failed(why),
            log::Error::Cancelled => Self::Cancelled,
        }
    }
}

impl From<model::StepError> for Stop {
    fn from(error: model::StepError) -> Self {
        match error {
            model::StepError::Parked => Self::Parked,
            model::StepError::Cancelled => Self::Cancelled,
            model::StepError::Invalid(why) | model::StepError::OverLimit(why) | model::StepError::Failed(why) => Self::Failed(why),
        }
    }
}

impl From<tools::DispatchError> for Stop {
    fn from(error: tools::DispatchError) -> Self {
        match error {
            tools::DispatchError::Parked => Self::Parked,
            tools::DispatchError::Cancelled => Self::Cancelled,
            tools::DispatchError::Invalid(why) | tools::DispatchError::OverLimit(why) => Self::Failed(why),
        }
    }
}

/// What an agent needs to choose what a request holds; `thetis_core::projection` and `thetis_core::compaction` read it.
pub fn outline(range: SeqRange) -> Result<Vec<Heading>, Stop> {
    Ok(log::outline(range.into())?.into_iter().map(Heading::from).collect())
}

/// The events of `range`; at most 1 MiB of bodies, a longer range is [`Error::OverLimit`](log::Error::OverLimit).
pub fn events(range: SeqRange) -> Result<Vec<Event>, log::Error> {
    log::read(range.into())?.iter().map(typed).collect()
}

/// Appends what later requests may show in place of the spans of `compaction`.
pub fn compact(compaction: Compaction) -> Result<Seq, Stop> {
    let Compaction { spans, summary } = compaction;
    let spans = spans.into_iter().map(Into::into).collect();
    Ok(Seq(log::append(&log::Addition::Compaction(log::Compaction { spans, summary }))?))
}

/// An event of a kind that this guest does not know is one that it may not act upon.
fn typed(entry: &log::Entry) -> Result<Event, log::Error> {
    Event::decode(Seq(entry.seq), Timestamp(entry.at), entry.turn.map(id::Turn), &entry.kind, &entry.body)
        .map_err(|error| log::Error::Refused(error.to_string()))
}

impl From<SeqRange> for log::SeqRange {
    fn from(range: SeqRange) -> Self {
        Self { first: range.first.0, last: range.last.0 }
    }
}

impl From<projection::Item> for model::Item {
    fn from(item: projection::Item) -> Self {
        match item {
            projection::Item::Events(range) => Self::Events(range.into()),
            projection::Item::Compaction(seq) => Self::Compaction(seq.0),
        }
    }
}

impl From<log::Heading> for Heading {
    fn from(heading: log::Heading) -> Self {
        let log::Heading { seq, turn, role, bytes } = heading;
        let range = |range: log::SeqRange| SeqRange { first: Seq(range.first), last: Seq(range.last) };
        let role = match role {
            log::Role::User => Role::User,
            log::Role::Message(log::Asked { calls, through }) => Role::Message { calls, through: Seq(through) },
            log::Role::Answer(log::Answered { message, tool }) => Role::Answer { message: Seq(message), tool },
            log::Role::Shown => Role::Shown,
            log::Role::Hidden => Role::Hidden,
            log::Role::Compaction(spans) => Role::Compaction { spans: spans.into_iter().map(range).collect() },
        };
        Self { seq: Seq(seq), turn: turn.map(id::Turn), role, bytes }
    }
}
