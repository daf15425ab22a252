//! How a turn goes on that another process began: what becomes of its open calls, and when it has to end instead. Pure;
//! running calls and appending is the caller's.
//!
//! The log does not say which of the open calls had begun when the process went away, so each may or may not have happened.
//! Its tool's manifest says whether it may simply run again.

use crate::event::{CallOutcome, ToolCall, ToolResult, TurnInterrupted, TurnStatus};
use crate::fold::{OpenCall, Session};
use crate::id::{ConversationId, Digest, Seq};
use crate::tool::Replay;

#[cfg(test)]
mod tests;

/// How often a turn is begun before it counts as one that cannot be finished.
pub const ATTEMPTS: u32 = 3;

/// What the model is told of a call that is not run again.
pub const INTERRUPTED: &str = "interrupted: the process that ran this call went away before the result was recorded, so it may or may not have \
                               happened. Find out before you do it again.";

/// What people are told of a turn that ends because its attempts are used up.
pub const GIVEN_UP: &str = "the process that ran the turn went away three times; it is not tried again";

/// How a turn goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The calls first, in this order; then the event, if any; then the agent runs again.
    GoOn {
        /// Every open call of the turn; all are of one message.
        calls: Vec<Call>,
        /// For the log, once every call has its result. None where no process died: the turn was handed over.
        interrupted: Option<TurnInterrupted>,
    },
    /// It ends: the results first, then the turn's end.
    End {
        /// One for every open call.
        results: Vec<ToolResult>,
        /// How it ends.
        status: TurnStatus,
        /// Why, for people, where the status alone does not say.
        reason: Option<String>,
    },
}

/// What becomes of an open call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// It runs again, with the [`idempotency_key`] that it had. Mode and arguments are asked again too.
    Run(ToolCall),
    /// It does not; this is its result.
    Answer(ToolResult),
}

/// How the turn that is going on goes on in a process that claimed it for the `attempt`th time; none between turns.
///
/// `replay` is what the tool of that name declares; none for a tool that is gone, whose calls count as unsafe to repeat.
/// Dying anywhere in what this asks for, and asking again, is safe: what is in the log by then is not asked for twice.
#[must_use]
pub fn repair(session: &Session, attempt: u32, replay: impl Fn(&str) -> Option<Replay>) -> Option<Repair> {
    let current = session.current()?;
    if session.cancel_requested() {
        return close(session, TurnStatus::Cancelled, None);
    }
    if attempt > ATTEMPTS {
        return close(session, TurnStatus::Failed, Some(GIVEN_UP.to_owned()));
    }
    let call = |open: &OpenCall| match replay(&open.call.name) {
        Some(Replay::Safe | Replay::Keyed) => Call::Run(open.call.clone()),
        Some(Replay::Unsafe) | None => Call::Answer(answer(open, CallOutcome::Interrupted, INTERRUPTED)),
    };
    let interrupted = (attempt > current.attempt).then(|| TurnInterrupted { attempt, text: told(attempt) });
    Some(Repair::GoOn { calls: session.open().iter().map(call).collect(), interrupted })
}

/// The end of a turn that another process began and nobody is to go on with, so that nothing looks as if it still thinks;
/// none between turns.
#[must_use]
pub fn close(session: &Session, status: TurnStatus, reason: Option<String>) -> Option<Repair> {
    session.current()?;
    let results = session.open().iter().map(|open| answer(open, CallOutcome::Interrupted, INTERRUPTED)).collect();
    Some(Repair::End { results, status, reason })
}

/// A result that no run of the call gave.
#[must_use]
pub fn answer(open: &OpenCall, outcome: CallOutcome, text: &str) -> ToolResult {
    let ToolCall { id, name, .. } = open.call.clone();
    ToolResult { message: open.message, call: id, name, outcome, text: text.to_owned(), full: None }
}

/// What names a call to the outside, the same for every run of it and for no other call: a UUID made from where it stands.
#[must_use]
pub fn idempotency_key(conversation: ConversationId, message: Seq, call: &str) -> String {
    let place = [b"thetis call\0".as_slice(), conversation.0.as_bytes(), &message.0.to_be_bytes(), call.as_bytes()].concat();
    let half = Digest::of(&place).as_bytes().first_chunk().copied().unwrap_or_default();
    uuid::Builder::from_custom_bytes(half).into_uuid().to_string()
}

fn told(attempt: u32) -> String {
    format!(
        "The process that worked on this went away, and the work goes on from here (attempt {attempt} of {ATTEMPTS}). Calls that could be \
         run again were; the others have a result that says that they were interrupted."
    )
}
