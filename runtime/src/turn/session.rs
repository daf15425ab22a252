//! A turn's view of its conversation: the log so far, the fold over it, and the one way to add to it. Every append checks
//! claim and tail; when somebody else's input came first, it is read before the append is tried again, so whatever a turn
//! writes was written knowing all that stands before it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use thetis_core::event::{Body, Event, ToolResult, TurnEnd, TurnStatus};
use thetis_core::fold::{Session as Fold, Violation};
use thetis_core::id::{Digest, Seq, SeqRange, Turn};
use thetis_core::policy;
use thetis_core::settings::Limits;
use thetis_core::tool::Manifest;
use thetis_core::usage::Usage;
use thetis_store::Hint;
use thetis_store::lease::Hold;
use thetis_store::log::{Append, End, append, read};
use thetis_store::registry::Active;
use thetis_store::settings::TurnSettings;
use tokio::time::Instant;
use tracing::{info, warn};

use super::Left;
use super::control::{Signal, Signals};
use crate::kernel::Kernel;
use crate::limits::Fault;

/// First and longest pause between two tries to reach the database.
const RETRY: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// How often an agent may still call the host after it was told to return.
const CALLS_AFTER_TOLD: u32 = 16;

/// Why a turn can write no more.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// Another process has the conversation, or may have it.
    #[error("the claim on the conversation is lost")]
    ClaimLost,
    /// The log cannot be read.
    #[error("cannot read the conversation's log")]
    Read(#[source] read::Error),
    /// The log breaks its own rules.
    #[error("the conversation's log is not valid")]
    Invalid(#[source] Violation),
    /// The database refuses an event.
    #[error("the log refuses what the turn wrote")]
    Refused(#[source] append::Error),
}

/// Why something that the agent wants to add is not in the log.
#[derive(Debug)]
pub(crate) enum NotAppended {
    /// The turn is cancelled: the agent is to return.
    Cancelled,
    /// It breaks a rule of the log.
    Broken(Violation),
    /// The turn can write no more.
    Stop(Stop),
}

/// An agent that does not return when it is told to.
#[derive(Debug, thiserror::Error)]
#[error("the agent was told to return and called the host {CALLS_AFTER_TOLD} times since")]
struct GoesOn;

/// A turn at work. It lives in the guest's store while the agent runs.
pub struct Session {
    pub(super) kernel: Arc<Kernel>,
    pub(super) hold: Hold,
    pub(super) signals: Signals,
    pub(crate) settings: TurnSettings,
    pub(super) key: Option<thetis_core::key::Key>,
    pub(crate) limits: Limits,
    /// Every active tool of the namespace; the mode decides which the agent sees.
    pub(super) tools: Vec<Active>,
    pub(super) agent: Active,
    pub(crate) events: Vec<Event>,
    pub(crate) fold: Fold,
    pub(super) turn: Turn,
    pub(super) deadline: Instant,
    /// Attachments that this turn has shown.
    pub(super) blobs: BTreeMap<Digest, Bytes>,
    /// How often the agent called since it was told to return.
    pub(super) told: Option<u32>,
    /// The agent was told to park.
    pub(super) parking: bool,
    /// Why the turn can write no more, if so.
    pub(super) stopped: Option<Stop>,
}

impl Session {
    /// The tools that the mode lets the agent see, with the aspects they come from.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&str, &Manifest)> {
        let mode = &self.settings.mode.value;
        let tools = self.tools.iter().filter_map(|tool| Some((tool.name.as_str(), tool.manifest.as_ref()?)));
        tools.filter(|(_, manifest)| policy::admit(mode, manifest).is_ok())
    }

    /// What the tool of this name declares, whether or not the mode lets the agent see it.
    pub(super) fn manifest(&self, name: &str) -> Option<&Manifest> {
        self.tools.iter().filter_map(|tool| tool.manifest.as_ref()).find(|manifest| manifest.name == name)
    }

    /// Counts a call of the agent; one that does not return when told to is ended.
    pub(crate) fn called(&mut self) -> wasmtime::Result<()> {
        match &mut self.told {
            Some(CALLS_AFTER_TOLD..) => Err(GoesOn.into()),
            Some(calls) => {
                *calls += 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The end of the agent's call: nothing more can be written.
    pub(crate) fn stop(&mut self, stop: Stop) -> wasmtime::Error {
        let cause = stop.to_string().into();
        self.stopped = Some(stop);
        Fault { operation: "the turn can write no more", cause }.into()
    }

    /// Appends what the agent made.
    pub(crate) async fn add(&mut self, body: Body) -> Result<Seq, NotAppended> {
        if self.cancelled() {
            return Err(NotAppended::Cancelled);
        }
        let (seq, turn) = (self.fold.tail().next(), Some(self.turn));
        let event = Event { seq, at: thetis_core::event::Timestamp(0), turn, body };
        self.fold.check(&event).map_err(NotAppended::Broken)?;
        self.append(vec![event.body]).await.map_err(NotAppended::Stop)
    }

    /// Appends what the turn wrote; returns the first event's number.
    pub(super) async fn append(&mut self, bodies: Vec<Body>) -> Result<Seq, Stop> {
        self.write(|_| (bodies.clone(), None)).await
    }

    /// Ends the turn, the results of calls that nobody runs before it in the same commit. Whether the conversation is runnable
    /// again depends on what has come in by then.
    pub(super) async fn end(&mut self, results: Vec<ToolResult>, status: TurnStatus, reason: Option<String>) -> Result<Left, Stop> {
        info!(turn = self.turn.0, ?status, reason, "turn ends");
        let usage = self.fold.current().map_or_else(Usage::default, |current| current.usage);
        let end = Body::TurnEnd(TurnEnd { status, reason, usage });
        let bodies: Vec<Body> = results.into_iter().map(Body::ToolResult).chain([end]).collect();
        let mut runnable = false;
        self.write(|session| {
            runnable = !session.fold.left_over().is_empty();
            (bodies.clone(), Some(End { usage, runnable }))
        })
        .await?;
        Ok(if runnable { Left::Runnable } else { Left::Idle })
    }

    /// Appends what `content` makes of the log as it is by then.
    async fn write(&mut self, mut content: impl FnMut(&Self) -> (Vec<Body>, Option<End>)) -> Result<Seq, Stop> {
        let mut pause = RETRY.0;
        // A commit may have happened although its acknowledgement did not arrive.
        let mut unsure = false;
        loop {
            if self.signals.now() == Signal::ClaimLost {
                return Err(Stop::ClaimLost);
            }
            let (bodies, end) = content(self);
            let (hold, tail, turn) = (self.hold, self.fold.tail(), Some(self.turn));
            match self.kernel.store.append(Append { hold, tail, turn, bodies: bodies.clone(), end }).await {
                Ok(appended) => {
                    let seqs = (appended.first.0..).map(Seq);
                    self.take(seqs.zip(bodies).map(|(seq, body)| Event { seq, at: appended.at, turn, body }))?;
                    self.kernel.hints.publish(Hint::Appended { conversation: self.hold.conversation, tail: self.fold.tail() });
                    return Ok(appended.first);
                }
                Err(append::Error::Moved { .. }) => {
                    let known = self.events.len();
                    self.catch_up().await?;
                    // Nobody else writes with this turn's number: what stands there is what the unsure try wrote.
                    let mine = self.events.iter().skip(known).find(|event| event.turn == turn);
                    if let Some(event) = mine.filter(|_| unsure) {
                        return Ok(event.seq);
                    }
                }
                Err(append::Error::Fenced) => return Err(Stop::ClaimLost),
                Err(cause) if cause.is_retryable() => {
                    unsure |= matches!(cause, append::Error::Unavailable(_));
                    warn!(error = &cause as &dyn std::error::Error, "cannot append; trying again while the claim lasts");
                    tokio::time::sleep(pause).await;
                    pause = pause.saturating_mul(2).min(RETRY.1);
                }
                Err(cause) => return Err(Stop::Refused(cause)),
            }
        }
    }

    /// Reads what others appended, for as long as the claim lasts.
    async fn catch_up(&mut self) -> Result<(), Stop> {
        let range = SeqRange { first: self.fold.tail().next(), last: Seq(u64::MAX) };
        let mut pause = RETRY.0;
        loop {
            match self.kernel.store.read(self.hold.conversation, range).await {
                Ok(news) => return self.take(news),
                Err(cause) if cause.is_retryable() && self.signals.now() != Signal::ClaimLost => {
                    warn!(error = &cause as &dyn std::error::Error, "cannot read the log; trying again while the claim lasts");
                    tokio::time::sleep(pause).await;
                    pause = pause.saturating_mul(2).min(RETRY.1);
                }
                Err(cause) => return Err(Stop::Read(cause)),
            }
        }
    }

    fn take(&mut self, events: impl IntoIterator<Item = Event>) -> Result<(), Stop> {
        for event in events {
            self.fold.push(&event).map_err(Stop::Invalid)?;
            self.events.push(event);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("hold", &self.hold).field("turn", &self.turn).finish_non_exhaustive()
    }
}
