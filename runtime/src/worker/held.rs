//! The claims that this process holds, and their renewal. A claim that could not be renewed in time is given up before the
//! database would give it to somebody else, so two processes never act at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use thetis_core::id::ConversationId;
use thetis_store::Store;
use thetis_store::lease::Hold;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::Options;
use crate::turn::control::{Control, Signal, Signals};

#[derive(Debug)]
struct Claim {
    hold: Hold,
    control: Control,
    /// When the request that last extended the claim was sent: the lease runs at least from here.
    renewed: Instant,
}

/// The claims of this process.
#[derive(Debug, Default)]
pub struct Held(Mutex<HashMap<ConversationId, Claim>>);

impl Held {
    /// Takes note of a claim that was asked for at `asked`; the turn listens to what is returned.
    pub fn insert(&self, hold: Hold, asked: Instant) -> Signals {
        let (control, signals) = Control::new();
        self.lock().insert(hold.conversation, Claim { hold, control, renewed: asked });
        signals
    }

    /// The turn is over.
    pub fn remove(&self, conversation: ConversationId) {
        self.lock().remove(&conversation);
    }

    /// Somebody asked for the conversation's turn to stop.
    pub fn cancel(&self, conversation: ConversationId) {
        self.tell(conversation, Signal::Cancel);
    }

    /// This process is going away.
    pub fn hand_over_all(&self) {
        self.lock().values().for_each(|claim| claim.control.send(Signal::HandOver));
    }

    fn tell(&self, conversation: ConversationId, signal: Signal) {
        if let Some(claim) = self.lock().get(&conversation) {
            claim.control.send(signal);
        }
    }

    fn holds(&self) -> Vec<Hold> {
        self.lock().values().map(|claim| claim.hold).collect()
    }

    fn renewed(&self, holds: &[Hold], sent: Instant) {
        let mut held = self.lock();
        for hold in holds {
            if let Some(claim) = held.get_mut(&hold.conversation).filter(|claim| claim.hold == *hold) {
                claim.renewed = sent;
            }
        }
    }

    /// Gives up every claim that was last extended at `limit` or before.
    fn give_up_until(&self, limit: Instant) {
        for (conversation, claim) in self.lock().iter().filter(|(_, claim)| claim.renewed <= limit) {
            warn!(%conversation, "the claim could not be renewed in time; giving it up");
            claim.control.send(Signal::ClaimLost);
        }
    }

    /// A panic elsewhere cannot leave the map half changed: every section above is one operation on it.
    fn lock(&self) -> MutexGuard<'_, HashMap<ConversationId, Claim>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Extends all claims until `stop`, five times a lease. A claim that could not be extended is given up with a fifth of its
/// lease to spare, which is what its effects have to come to rest.
pub async fn renew(held: Arc<Held>, store: Store, options: Options, stop: CancellationToken) {
    let fifth = options.lease / 5;
    while stop.run_until_cancelled(tokio::time::sleep(fifth)).await.is_some() {
        let holds = held.holds();
        if holds.is_empty() {
            continue;
        }
        let sent = Instant::now();
        match tokio::time::timeout(fifth, store.renew(&options.owner, &holds, options.lease)).await {
            Ok(Ok(renewed)) => {
                held.renewed(&holds, sent);
                for conversation in renewed.lost {
                    held.tell(conversation, Signal::ClaimLost);
                }
                for conversation in renewed.stopping {
                    held.tell(conversation, Signal::Cancel);
                }
            }
            Ok(Err(cause)) => warn!(error = &cause as &dyn std::error::Error, "cannot renew claims"),
            Err(_) => warn!(waited = ?fifth, "the renewal of claims is not answered"),
        }
        if let Some(limit) = Instant::now().checked_sub(options.lease.saturating_sub(fifth)) {
            held.give_up_until(limit);
        }
    }
}
