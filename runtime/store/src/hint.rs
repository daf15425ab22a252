//! Hints: "look at the database now". Losing one costs time, never correctness, so publishing never waits and never fails.
//! In one process they go from task to task; between processes a NATS server carries them, and then this does IO.
//!
//! Two kinds of listeners: whoever runs turns hears of all work, whoever watches a conversation hears of that one alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use thetis_core::id::{ConversationId, Seq};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

mod nats;

pub use nats::Error;

/// Something happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "hint", content = "of", rename_all = "lowercase")]
pub enum Hint {
    /// Work: a conversation may be claimed.
    Runnable(ConversationId),
    /// Work: somebody asked a turn to stop.
    Cancel(ConversationId),
    /// Work: a namespace's settings changed.
    Settings {
        /// The namespace.
        namespace: String,
    },
    /// A conversation's log grew.
    Appended {
        /// Whose.
        conversation: ConversationId,
        /// Its last event.
        tail: Seq,
    },
    /// A part of the message that a conversation's model is saying; the whole will be an event.
    Delta {
        /// Whose.
        conversation: ConversationId,
        /// The part.
        text: String,
    },
    /// The message that a conversation's model was saying starts over: what was heard of it is void.
    Restart(ConversationId),
}

impl Hint {
    /// Whose watchers it is for; none: it is work.
    const fn conversation(&self) -> Option<ConversationId> {
        match self {
            Self::Runnable(_) | Self::Cancel(_) | Self::Settings { .. } => None,
            Self::Appended { conversation, .. } | Self::Delta { conversation, .. } | Self::Restart(conversation) => Some(*conversation),
        }
    }
}

/// Hints were lost, this listener being slow or the server gone for a while: look at the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hints were lost")]
pub struct Missed;

/// Where hints are published and heard. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Hints {
    bus: Arc<Bus>,
    nats: Option<nats::Remote>,
}

impl Hints {
    /// Hints within this process.
    #[must_use]
    pub fn local() -> Self {
        Self { bus: Arc::new(Bus::new()), nats: None }
    }

    /// Hints within this process, and between all that use the NATS server at `url`. The server may be away, now or later:
    /// then hints stay in the process, and listeners hear [`Missed`] when it is back.
    ///
    /// Subjects: `thetis.work` and `thetis.conversation.<id>`; an installation needs an account of its own on a shared server.
    pub async fn nats(url: &str) -> Result<Self, Error> {
        let bus = Arc::new(Bus::new());
        let nats = nats::Remote::connect(url, &bus).await?;
        Ok(Self { bus, nats: Some(nats) })
    }

    /// Tells whoever listens. Never waits; what cannot be told is dropped.
    pub fn publish(&self, hint: Hint) {
        if let Some(nats) = &self.nats {
            nats.publish(hint.clone());
        }
        self.bus.deliver(hint);
    }

    /// Hears of work from here on: [`Hint::Runnable`], [`Hint::Cancel`], [`Hint::Settings`].
    #[must_use]
    pub fn work(&self) -> Subscription {
        Subscription { receiver: Some(self.bus.work.subscribe()), watched: None }
    }

    /// Hears of one conversation from here on: [`Hint::Appended`], [`Hint::Delta`], [`Hint::Restart`].
    #[must_use]
    pub fn watch(&self, conversation: ConversationId) -> Subscription {
        let mut watched = self.bus.watched();
        let entry = watched.entry(conversation).or_insert_with(|| Watched {
            sender: broadcast::channel(DELTAS).0,
            forwarding: self.nats.as_ref().map(|nats| nats.forward(nats::subject(Some(conversation)), &self.bus)),
        });
        Subscription { receiver: Some(entry.sender.subscribe()), watched: Some((conversation, self.bus.clone())) }
    }
}

/// What one listener hears.
#[derive(Debug)]
pub struct Subscription {
    /// There until it is dropped.
    receiver: Option<broadcast::Receiver<Heard>>,
    watched: Option<(ConversationId, Arc<Bus>)>,
}

impl Subscription {
    /// The next hint. Waits for ever where nothing happens: keep a sweep beside it. Safe to stop waiting for.
    pub async fn next(&mut self) -> Result<Hint, Missed> {
        let Some(receiver) = &mut self.receiver else { return std::future::pending().await };
        match receiver.recv().await {
            Ok(heard) => heard,
            Err(RecvError::Lagged(_)) => Err(Missed),
            // Nobody is left who could publish.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some((conversation, bus)) = self.watched.take() else { return };
        let mut watched = bus.watched();
        drop(self.receiver.take());
        if watched.get(&conversation).is_some_and(|entry| entry.sender.receiver_count() == 0) {
            watched.remove(&conversation);
        }
    }
}

type Heard = Result<Hint, Missed>;

/// Hints that a listener to work may be behind.
const WORK: usize = 1024;
/// Hints that a watcher may be behind.
const DELTAS: usize = 256;

/// Within the process.
#[derive(Debug)]
struct Bus {
    work: broadcast::Sender<Heard>,
    watched: Mutex<HashMap<ConversationId, Watched>>,
}

/// A conversation that somebody watches; gone with the last watcher.
#[derive(Debug)]
struct Watched {
    sender: broadcast::Sender<Heard>,
    #[expect(dead_code, reason = "ends when it is dropped")]
    forwarding: Option<nats::Forwarding>,
}

impl Bus {
    fn new() -> Self {
        Self { work: broadcast::channel(WORK).0, watched: Mutex::default() }
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<ConversationId, Watched>> {
        // Nothing that holds it can panic half-way.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deliver(&self, hint: Hint) {
        // An error says that nobody listens.
        let _ = match hint.conversation() {
            None => self.work.send(Ok(hint)).ok(),
            Some(conversation) => self.watched().get(&conversation).and_then(|entry| entry.sender.send(Ok(hint)).ok()),
        };
    }

    /// Tells every listener that hints may have been lost.
    fn missed(&self) {
        let _ = self.work.send(Err(Missed));
        for entry in self.watched().values() {
            let _ = entry.sender.send(Err(Missed));
        }
    }
}

#[cfg(test)]
mod tests;
