//! What a turn does next, from what its log says. Pure.

use thetis_core::id::Seq;
use thetis_core::outline::{Heading, Role};
use thetis_sdk::agent::Ending;

#[cfg(test)]
mod tests;

/// The log so far, without its texts.
#[derive(Clone, Debug)]
pub struct View {
    start: Seq,
    max_steps: u32,
    outline: Vec<Heading>,
    /// The newest thing a person said.
    asked: Seq,
    /// The newest event that a request held which the model answered.
    held: Seq,
    /// Requests that the model answered in this turn.
    steps: u32,
    /// The newest message of this turn.
    said: Option<Said>,
}

#[derive(Clone, Copy, Debug)]
struct Said {
    message: Seq,
    calls: u32,
    answered: u32,
    /// Text that no person wrote came after it.
    told: bool,
}

/// What the turn does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Ask the model.
    Step,
    /// Have the calls of this message run that have no result yet.
    Dispatch(Seq),
    /// Tell the model that its next answer is the turn's last.
    Warn,
    /// Leave.
    End(Ending),
}

impl View {
    /// Before the first event. `start` is the turn's first event.
    pub const fn new(start: Seq, max_steps: u32) -> Self {
        Self { start, max_steps, outline: Vec::new(), asked: Seq::ZERO, held: Seq::ZERO, steps: 0, said: None }
    }

    /// The newest event folded in.
    pub fn tail(&self) -> Seq {
        self.outline.last().map_or(Seq::ZERO, |last| last.seq)
    }

    /// All events folded in, from event 1 on.
    pub fn outline(&self) -> &[Heading] {
        &self.outline
    }

    /// Adds the event after the newest.
    pub fn fold(&mut self, heading: Heading) {
        match &heading.role {
            Role::User => self.asked = heading.seq,
            Role::Message { calls, through } => {
                self.held = *through;
                if heading.seq > self.start {
                    self.steps = self.steps.saturating_add(1);
                    self.said = Some(Said { message: heading.seq, calls: *calls, answered: 0, told: false });
                }
            }
            Role::Answer { message, .. } => {
                if let Some(said) = self.said.as_mut().filter(|said| said.message == *message) {
                    said.answered = said.answered.saturating_add(1);
                }
            }
            Role::Shown => self.said.iter_mut().for_each(|said| said.told = true),
            Role::Hidden | Role::Compaction { .. } => {}
        }
        self.outline.push(heading);
    }

    /// What the turn does next. Results that the model has not seen, or a person's word that no request has held, keep it
    /// going; the model's last word ends it. A cancel is the host's to tell: it answers the next step or dispatch.
    pub fn next(&self) -> Action {
        let heard = self.asked <= self.held;
        match self.said {
            Some(said) if said.answered < said.calls => Action::Dispatch(said.message),
            Some(said) if said.calls == 0 && heard => Action::End(Ending::Completed),
            None if heard => Action::End(Ending::Empty),
            Some(said) if self.steps.saturating_add(1) == self.max_steps && !said.told => Action::Warn,
            Some(_) | None => Action::Step,
        }
    }
}
