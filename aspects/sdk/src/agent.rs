//! Agents: from what the author writes to what the world `agent-aspect` exports, and the host's words with typed events.

use thetis_core::event::{Event, Timestamp};
use thetis_core::id::{self, Seq};

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
    pub use super::bindings::thetis::grip::tools::{Description, DispatchError, dispatch, listed};
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

/// The events of `range`, typed; at most 1 MiB of bodies.
pub fn events(range: log::SeqRange) -> Result<Vec<Event>, Stop> {
    log::read(range)?.iter().map(typed).collect()
}

fn typed(entry: &log::Entry) -> Result<Event, Stop> {
    Event::decode(Seq(entry.seq), Timestamp(entry.at), entry.turn.map(id::Turn), &entry.kind, &entry.body).map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        Stop::Failed(format!("{error}: {cause}"))
    })
}
