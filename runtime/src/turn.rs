//! One turn: opened from the log, run by the agent's guest, ended in the log. What the guest asks for on the way is in the
//! files below; how an interrupted turn goes on is decided in `core`.

pub mod control;
mod dispatch;
mod session;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use thetis_core::event::{Body, CallOutcome, TurnInterrupted, TurnStart, TurnStatus, Used};
use thetis_core::fold;
use thetis_core::id::{Seq, SeqRange};
use thetis_core::outcome::Outcome;
use thetis_core::repair::{self, Call, Repair};
use thetis_core::settings::{AspectKind, Resolved};
use thetis_store::lease::{Claim, Handover};
use tokio::time::Instant;
use tracing::{error, info, warn};

use crate::guest::{Ending, Target, Turn as Asked};
use crate::host::notes::Notes;
use crate::kernel::Kernel;
use crate::limits::Bounds;
use control::{Signal, Signals};
pub(crate) use dispatch::NoDispatch;
pub use session::Session;
pub(crate) use session::{NotAppended, Stop};
pub(crate) use step::{NoStep, Step};

/// How long a conversation rests whose turn cannot begin because something it names is missing or unreadable.
const REST: Duration = Duration::from_secs(30);

/// Where a turn left its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing to do until somebody speaks.
    Idle,
    /// There is input that the turn has not seen.
    Runnable,
    /// Somebody else has it, or will: handed over, claim lost, or at rest for a while.
    NotOurs,
}

/// Why a turn cannot begin or go on.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Stop(#[from] Stop),
    #[error("cannot read what the conversation runs with")]
    Settings(#[source] thetis_store::settings::Error),
    #[error("cannot read the namespace's aspects")]
    Aspects(#[source] thetis_store::registry::Error),
    #[error("the conversation's agent {0:?} is not an active aspect")]
    NoAgent(String),
    #[error("the agent's call did not give the turn back")]
    SessionLost,
    #[error("the model's key cannot be used")]
    Key(#[source] thetis_core::key::NotAKey),
}

/// Runs the claimed conversation's turn to its end, or to where it leaves this process.
pub async fn run(kernel: Arc<Kernel>, claim: Claim, signals: Signals) -> Left {
    let (hold, store) = (claim.hold, kernel.store.clone());
    match drive(kernel, claim, signals).await {
        Ok(left) => left,
        Err(Error::Stop(Stop::ClaimLost)) => {
            warn!("the claim is lost; whoever has it goes on");
            Left::NotOurs
        }
        Err(cause) => {
            error!(error = &cause as &dyn std::error::Error, rest = ?REST, "the turn cannot go on; trying again later");
            if let Err(cause) = store.release(hold, Handover::Failed { pause: REST }).await {
                warn!(error = &cause as &dyn std::error::Error, "cannot release the claim; it runs out by itself");
            }
            Left::NotOurs
        }
    }
}

async fn drive(kernel: Arc<Kernel>, claim: Claim, signals: Signals) -> Result<Left, Error> {
    let attempt = claim.attempt;
    let mut session = open(kernel, claim, signals).await?;
    let replay = |name: &str| session.manifest(name).map(|tool| tool.replay);
    match repair::repair(&session.fold, attempt, replay) {
        Some(Repair::End { results, status, reason }) => return Ok(session.end(results, status, reason).await?),
        Some(Repair::GoOn { calls, interrupted }) => session.resume(calls, interrupted).await?,
        None if session.fold.unanswered().is_empty() => return session.rest().await,
        None => session.start().await?,
    }
    run_agent(session).await
}

/// Reads everything that the turn needs, at once.
async fn open(kernel: Arc<Kernel>, claim: Claim, signals: Signals) -> Result<Box<Session>, Error> {
    let row = claim.conversation;
    let (namespace, whole) = (&row.namespace, SeqRange { first: Seq(1), last: Seq(u64::MAX) });
    let store = &kernel.store;
    let (settings, agent, tools, events) = tokio::join!(
        store.settings(namespace, &row.choice),
        store.active(namespace, AspectKind::Agent, &row.choice.agent),
        store.active_tools(namespace),
        store.read(row.id, whole),
    );
    let settings = settings.map_err(Error::Settings)?;
    let agent = agent.map_err(Error::Aspects)?.ok_or_else(|| Error::NoAgent(row.choice.agent.clone()))?;
    let tools = tools.map_err(Error::Aspects)?;
    let events = events.map_err(Stop::Read)?;
    let key = settings.key.as_ref().map(|key| thetis_core::key::Key::new(key.expose())).transpose().map_err(Error::Key)?;
    let fold = fold::Session::of(&events).map_err(Stop::Invalid)?;
    let limits = row.choice.limits;
    Ok(Box::new(Session {
        hold: claim.hold,
        turn: fold.current().map_or_else(|| fold.next_turn(), |current| current.number),
        deadline: Instant::now() + Duration::from_secs(u64::from(limits.turn_seconds)),
        blobs: BTreeMap::new(),
        told: None,
        parking: false,
        stopped: None,
        kernel,
        signals,
        settings,
        key,
        limits,
        tools,
        agent,
        events,
        fold,
    }))
}

/// Lets the agent work on the turn, then ends it in the log.
async fn run_agent(session: Box<Session>) -> Result<Left, Error> {
    let Some(current) = session.fold.current() else { return Ok(Left::Idle) };
    let asked = Asked { number: current.number.0, attempt: current.attempt, start: current.start.0 };
    let (component, grants) = (current.settings.agent, session.agent.grants.clone());
    let target = Target { component, kind: AspectKind::Agent, grants: &grants };
    let bounds = Bounds { budget: session.deadline.saturating_duration_since(Instant::now()), ..Bounds::default() };
    let (kernel, signals) = (session.kernel.clone(), session.signals.clone());
    let notes = Some(Notes { store: kernel.store.clone(), hold: session.hold });
    let (outcome, session) = tokio::select! {
        ended = kernel.guests.run_turn(target, session, notes, asked, &bounds) => ended,
        _ = signals.at_least(Signal::ClaimLost) => return Err(Stop::ClaimLost.into()),
    };
    match session {
        Some(session) => session.ended(outcome).await,
        None => Err(Error::SessionLost),
    }
}

impl Session {
    /// Begins the turn that waits.
    async fn start(&mut self) -> Result<(), Stop> {
        fn used<T>(setting: &Resolved<T>) -> Used {
            Used { name: setting.name.clone(), digest: setting.digest }
        }
        let start = TurnStart {
            agent: self.agent.component,
            mode: used(&self.settings.mode),
            model: used(&self.settings.model),
            skills: self.settings.skills.iter().map(used).collect(),
        };
        info!(turn = self.turn.0, model = %start.model.name, mode = %start.mode.name, "turn starts");
        self.append(vec![Body::TurnStart(start)]).await.map(drop)
    }

    /// Goes on with a turn that another process began.
    async fn resume(&mut self, calls: Vec<Call>, interrupted: Option<TurnInterrupted>) -> Result<(), Stop> {
        info!(turn = self.turn.0, calls = calls.len(), attempt = interrupted.as_ref().map(|event| event.attempt), "turn goes on");
        if let Some(message) = self.fold.open().first().map(|open| open.message) {
            self.dispatch(message, calls).await?;
        }
        match interrupted {
            Some(event) => self.append(vec![Body::TurnInterrupted(event)]).await.map(drop),
            None => Ok(()),
        }
    }

    /// Ends the turn as the agent's call ended.
    async fn ended(mut self: Box<Self>, outcome: Outcome<Ending>) -> Result<Left, Error> {
        if let Some(stop) = self.stopped.take() {
            return Err(stop.into());
        }
        if self.parking && matches!(outcome, Outcome::Answered(Ending::Parked)) {
            info!(turn = self.turn.0, "turn is handed over");
            self.release(Handover::Planned).await;
            return Ok(Left::NotOurs);
        }
        let (status, reason) = self.verdict(outcome);
        let (left, text) = match status {
            TurnStatus::Cancelled => (CallOutcome::Cancelled, dispatch::CANCELLED),
            _ => (CallOutcome::Refused, "not run: the agent ended its turn first"),
        };
        let results = self.fold.open().iter().map(|open| repair::answer(open, left, text)).collect();
        Ok(self.end(results, status, reason).await?)
    }

    fn verdict(&self, outcome: Outcome<Ending>) -> (TurnStatus, Option<String>) {
        let failed = |reason: String| (TurnStatus::Failed, Some(reason));
        match outcome {
            Outcome::Answered(Ending::Completed) => (TurnStatus::Completed, None),
            Outcome::Answered(Ending::Rejected) => (TurnStatus::Rejected, None),
            Outcome::Answered(Ending::Empty) => (TurnStatus::Empty, None),
            Outcome::Answered(Ending::Cancelled) | Outcome::Cancelled => (TurnStatus::Cancelled, None),
            // However it came to its end: it was asked to.
            _ if self.cancelled() => (TurnStatus::Cancelled, None),
            Outcome::Answered(Ending::Parked) => failed("the agent parked although nothing asked it to".to_owned()),
            Outcome::Refused(text) => failed(text),
            other => failed(format!("the agent {}", other.ending())),
        }
    }

    /// Nothing is asked of the agent: whoever made the conversation runnable was mistaken, or was taken back.
    async fn rest(&self) -> Result<Left, Error> {
        self.release(Handover::Idle { tail: self.fold.tail() }).await;
        Ok(Left::Idle)
    }

    /// Lets go of the claim without a word in the log.
    async fn release(&self, handover: Handover) {
        if let Err(cause) = self.kernel.store.release(self.hold, handover).await {
            warn!(error = &cause as &dyn std::error::Error, "cannot release the claim; it runs out by itself");
        }
    }
}
