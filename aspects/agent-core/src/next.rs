//! What a turn does next, from what its log says. Pure.

use thetis_sdk::agent::Ending;
use thetis_sdk::agent::log::{Heading, Role};

#[cfg(test)]
mod tests;

/// The log so far, as far as it decides what comes next.
#[derive(Clone, Debug)]
pub struct View {
    start: u64,
    tail: u64,
    /// The newest thing a person said.
    asked: u64,
    /// The newest event that a request held which the model answered.
    held: u64,
    /// The newest message of this turn.
    said: Option<Said>,
}

#[derive(Clone, Copy, Debug)]
struct Said {
    message: u64,
    calls: u32,
    answered: u32,
}

/// What the turn does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Ask the model.
    Step,
    /// Have the calls of this message run that have no result yet.
    Dispatch(u64),
    /// Leave.
    End(Ending),
}

impl View {
    /// Before the first event. `start` is the turn's first event.
    pub const fn new(start: u64) -> Self {
        Self { start, tail: 0, asked: 0, held: 0, said: None }
    }

    /// The newest event folded in.
    pub const fn tail(&self) -> u64 {
        self.tail
    }

    /// Adds an event, which comes after all before it.
    pub fn fold(&mut self, heading: &Heading) {
        self.tail = heading.seq;
        match &heading.role {
            Role::User => self.asked = heading.seq,
            Role::Message(asked) => {
                self.held = asked.seen;
                if heading.seq > self.start {
                    self.said = Some(Said { message: heading.seq, calls: asked.calls, answered: 0 });
                }
            }
            Role::Answer(answer) => {
                if let Some(said) = self.said.as_mut().filter(|said| said.message == answer.message) {
                    said.answered = said.answered.saturating_add(1);
                }
            }
            Role::Shown | Role::Hidden | Role::Compaction(_) => {}
        }
    }
}

/// What the turn does next. Results the model has not seen, or a person's word that no request has held, keep it going;
/// the model's last word ends it. A cancel is the host's to tell: it answers the next step or dispatch.
pub fn next(view: &View) -> Action {
    let heard = view.asked <= view.held;
    match view.said {
        Some(said) if said.answered < said.calls => Action::Dispatch(said.message),
        Some(said) if said.calls == 0 && heard => Action::End(Ending::Completed),
        None if heard => Action::End(Ending::Empty),
        Some(_) | None => Action::Step,
    }
}
