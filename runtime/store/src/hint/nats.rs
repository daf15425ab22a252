//! Hints over a NATS server: core NATS, nothing stored. IO, all of it in tasks of its own.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event};
use futures::StreamExt as _;
use thetis_core::id::ConversationId;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::{Bus, Hint};

/// Hints that wait for the server; further ones are dropped.
const QUEUE: usize = 1024;
/// A larger hint stays in the process: a part of a message that long is better read from the log.
const BYTES: usize = 64 << 10;
/// Between attempts to reach a server that is away.
const RETRY: Duration = Duration::from_secs(1);

/// Hints cannot go over NATS.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL or what it names cannot be used. It may hold a password and is not repeated.
    #[error("use the NATS server that the URL names")]
    Connect(#[source] async_nats::ConnectError),
}

/// The way to the other processes.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    client: Client,
    queue: mpsc::Sender<Hint>,
    #[expect(dead_code, reason = "ends when the last clone is dropped")]
    work: Arc<Forwarding>,
}

impl Remote {
    pub(super) async fn connect(url: &str, bus: &Arc<Bus>) -> Result<Self, Error> {
        let lost = Arc::downgrade(bus);
        let options = ConnectOptions::new()
            .name("thetis")
            // What this process publishes, its own listeners have heard already.
            .no_echo()
            .retry_on_initial_connect()
            .reconnect_delay_callback(|_| RETRY)
            .event_callback(move |event| {
                let lost = lost.clone();
                async move {
                    tracing::debug!(%event, "NATS");
                    if let Event::Connected | Event::SlowConsumer(_) = event
                        && let Some(bus) = lost.upgrade()
                    {
                        bus.missed();
                    }
                }
            });
        let client = options.connect(url).await.map_err(Error::Connect)?;
        let (queue, hints) = mpsc::channel(QUEUE);
        tokio::spawn(publish(client.clone(), hints));
        let work = Arc::new(Forwarding::start(client.clone(), subject(None), bus));
        Ok(Self { client, queue, work })
    }

    pub(super) fn publish(&self, hint: Hint) {
        if self.queue.try_send(hint).is_err() {
            tracing::debug!("a hint is dropped: the NATS server does not take them as fast");
        }
    }

    pub(super) fn forward(&self, subject: String, bus: &Arc<Bus>) -> Forwarding {
        Forwarding::start(self.client.clone(), subject, bus)
    }
}

/// Where a conversation's hints go, or work.
pub(super) fn subject(conversation: Option<ConversationId>) -> String {
    conversation.map_or_else(|| "thetis.work".to_owned(), |conversation| format!("thetis.conversation.{conversation}"))
}

/// Ends with the last sender of its queue.
async fn publish(client: Client, mut hints: mpsc::Receiver<Hint>) {
    while let Some(hint) = hints.recv().await {
        // A hint is text and numbers: it cannot fail to be JSON.
        let bytes = serde_json::to_vec(&hint).unwrap_or_default();
        if bytes.len() <= BYTES
            && let Err(error) = client.publish(subject(hint.conversation()), bytes.into()).await
        {
            tracing::debug!(error = &error as &dyn std::error::Error, "a hint is dropped");
        }
    }
}

/// Carries what other processes publish on a subject to this one's listeners, until it is dropped.
#[derive(Debug)]
pub(super) struct Forwarding(AbortHandle);

impl Forwarding {
    fn start(client: Client, subject: String, bus: &Arc<Bus>) -> Self {
        let bus = Arc::downgrade(bus);
        let forward = async move {
            let Ok(mut messages) = client.subscribe(subject).await else { return };
            while let Some(message) = messages.next().await
                && let Some(bus) = bus.upgrade()
            {
                // Anybody with access to the server may have sent it. A made-up hint makes listeners look, and find nothing.
                match serde_json::from_slice(&message.payload) {
                    Ok(hint) => bus.deliver(hint),
                    Err(error) => tracing::debug!(error = &error as &dyn std::error::Error, "a message is not a hint"),
                }
            }
        };
        Self(tokio::spawn(forward).abort_handle())
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.0.abort();
    }
}
