//! What the outside tells a running turn: hand over, stop, or let go. A signal only ever gets more urgent.

use tokio::sync::watch;

/// What a turn is told; later variants outrank earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Nothing: go on.
    GoOn,
    /// This process is shutting down: park at the next step boundary, another one goes on.
    HandOver,
    /// Somebody asked the turn to stop.
    Cancel,
    /// The claim is gone, or may be: start no effect, write nothing.
    ClaimLost,
}

/// The side that tells.
#[derive(Debug)]
pub struct Control(watch::Sender<Signal>);

/// The side that listens.
#[derive(Clone, Debug)]
pub struct Signals(watch::Receiver<Signal>);

impl Control {
    /// A control and its listener.
    #[must_use]
    pub fn new() -> (Self, Signals) {
        let (sender, receiver) = watch::channel(Signal::GoOn);
        (Self(sender), Signals(receiver))
    }

    /// Tells the turn `signal`, unless it was told something more urgent.
    pub fn send(&self, signal: Signal) {
        self.0.send_if_modified(|current| {
            let urgent = signal > *current;
            *current = signal.max(*current);
            urgent
        });
    }
}

impl Signals {
    /// The most urgent signal so far.
    #[must_use]
    pub fn now(&self) -> Signal {
        *self.0.borrow()
    }

    /// Ends when a signal at least as urgent as `signal` has come. A control that went away counts as a lost claim.
    pub async fn at_least(&self, signal: Signal) -> Signal {
        let mut receiver = self.0.clone();
        receiver.wait_for(|current| *current >= signal).await.map_or(Signal::ClaimLost, |current| *current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_signal_only_gets_more_urgent() {
        let (control, signals) = Control::new();
        assert_eq!(signals.now(), Signal::GoOn);
        control.send(Signal::Cancel);
        control.send(Signal::HandOver);
        assert_eq!(signals.now(), Signal::Cancel);
        control.send(Signal::ClaimLost);
        assert_eq!(signals.at_least(Signal::Cancel).await, Signal::ClaimLost);
    }

    #[tokio::test]
    async fn a_control_that_went_away_is_a_lost_claim() {
        let (control, signals) = Control::new();
        drop(control);
        assert_eq!(signals.at_least(Signal::Cancel).await, Signal::ClaimLost);
    }
}
