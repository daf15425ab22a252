//! The pool that runs turns: hears hints, sweeps the database behind them, claims what is runnable and keeps the claims
//! alive. Knows nothing of what happens inside a turn.

use std::sync::Arc;
use std::time::{Duration, Instant};

use thetis_core::id::ConversationId;
use thetis_store::hint::{Hint, Missed};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::JoinMap;
use tracing::{Instrument, error, info, info_span, warn};

use crate::kernel::Kernel;
use crate::turn::{self, Left};

mod held;
use held::Held;

/// How the pool works.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names this process in the rows it claims: unique among those that share the database.
    pub owner: String,
    /// Turns at a time.
    pub concurrency: usize,
    /// How long a claim outlives its last renewal; renewed five times as often.
    pub lease: Duration,
    /// How often the database is searched for what hints forgot.
    pub sweep: Duration,
}

impl Options {
    /// Ten seconds of lease and five of sweep: a dead process costs its turns at most fifteen seconds, a lost hint five.
    #[must_use]
    pub fn new(owner: String) -> Self {
        Self { owner, concurrency: 256, lease: Duration::from_secs(10), sweep: Duration::from_secs(5) }
    }
}

/// Runs turns until `shutdown`, then lets those that run reach a step boundary and hands them over.
pub async fn run(kernel: Arc<Kernel>, options: Options, shutdown: CancellationToken) {
    let held = Arc::new(Held::default());
    let stop_renewal = CancellationToken::new();
    let renewal = tokio::spawn(held::renew(held.clone(), kernel.store.clone(), options.clone(), stop_renewal.clone()));
    // Also where this future is dropped: claims must not outlive the turns that they are for.
    let stop_renewal = stop_renewal.drop_guard();
    Pool { kernel, options, held, turns: JoinMap::new(), starved: false, shutdown }.serve().await;
    drop(stop_renewal);
    if let Err(cause) = renewal.await {
        error!(error = &cause as &dyn std::error::Error, "the renewal of claims ended badly");
    }
}

struct Pool {
    kernel: Arc<Kernel>,
    options: Options,
    held: Arc<Held>,
    turns: JoinMap<ConversationId, Left>,
    /// Something runnable found no room; looked for again when a turn leaves.
    starved: bool,
    shutdown: CancellationToken,
}

impl Pool {
    async fn serve(mut self) {
        let mut hints = self.kernel.hints.work();
        let mut sweep = tokio::time::interval(self.options.sweep);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let shutdown = self.shutdown.clone();
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                Some((conversation, left)) = self.turns.join_next() => self.finished(conversation, left).await,
                hint = hints.next() => self.hear(hint).await,
                _ = sweep.tick() => self.sweep().await,
            }
        }
        info!(turns = self.turns.len(), "handing over");
        self.held.hand_over_all();
        while self.turns.join_next().await.is_some() {}
    }

    async fn hear(&mut self, hint: Result<Hint, Missed>) {
        match hint {
            Ok(Hint::Runnable(conversation)) => self.start(conversation),
            Ok(Hint::Cancel(conversation)) => self.held.cancel(conversation),
            Ok(_) => {}
            Err(Missed) => self.sweep().await,
        }
    }

    async fn sweep(&mut self) {
        self.starved = false;
        let room = self.options.concurrency.saturating_sub(self.turns.len());
        match self.kernel.store.runnable(u32::try_from(room.saturating_add(1)).unwrap_or(u32::MAX)).await {
            Ok(runnable) => runnable.into_iter().for_each(|conversation| self.start(conversation)),
            Err(cause) => warn!(error = &cause as &dyn std::error::Error, "cannot look for runnable conversations; trying again"),
        }
    }

    fn start(&mut self, conversation: ConversationId) {
        if self.turns.contains_key(&conversation) {
            return;
        }
        if self.turns.len() >= self.options.concurrency {
            self.starved = true;
            return;
        }
        let (kernel, options, held) = (self.kernel.clone(), self.options.clone(), self.held.clone());
        let shutdown = self.shutdown.clone();
        let span = info_span!("turn", %conversation);
        self.turns.spawn(conversation, claim_and_run(kernel, options, held, shutdown, conversation).instrument(span));
    }

    async fn finished(&mut self, conversation: ConversationId, left: Result<Left, tokio::task::JoinError>) {
        match left {
            Ok(Left::Runnable) => self.start(conversation),
            Ok(Left::Idle | Left::NotOurs) => {}
            Err(cause) => {
                // The row keeps its lease until it runs out, then the attempt counts as one that died.
                self.held.remove(conversation);
                error!(%conversation, error = &cause as &dyn std::error::Error, "a turn's task died");
            }
        }
        if self.starved {
            self.sweep().await;
        }
    }
}

async fn claim_and_run(
    kernel: Arc<Kernel>,
    options: Options,
    held: Arc<Held>,
    shutdown: CancellationToken,
    conversation: ConversationId,
) -> Left {
    let asked = Instant::now();
    let claim = match kernel.store.claim(conversation, &options.owner, options.lease).await {
        Ok(Some(claim)) => claim,
        Ok(None) => return Left::NotOurs,
        Err(cause) => {
            warn!(error = &cause as &dyn std::error::Error, "cannot claim; the sweep tries again");
            return Left::NotOurs;
        }
    };
    let signals = held.insert(claim.hold, asked);
    if shutdown.is_cancelled() {
        held.hand_over_all();
    }
    let left = turn::run(kernel, claim, signals).await;
    held.remove(conversation);
    left
}
