//! Follows a log as a stream of server-sent events: first what is there, then what comes.
//!
//! A message that is an event of the log has the event's number as its id, so that a client that comes back says where it
//! was. Hints only say when to look; every event is read from the database, and a look every five seconds makes up for
//! hints that were lost. The client's own pace holds everything back: nothing is read ahead of it but one page.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive, KeepAliveStream};
use futures::Stream;
use thetis_core::id::{ConversationId, Seq};
use thetis_store::hint::{Hint, Missed, Subscription};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::problem::Problem;
use super::{Shared, events, wire};

/// Between looks that no hint asked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Proxies cut a connection that is silent for 15 s or so.
const HEARTBEAT: Duration = Duration::from_secs(8);

/// Between looks while the database does not answer.
const RETRY: Duration = Duration::from_secs(1);

type Messages = Sse<KeepAliveStream<std::pin::Pin<Box<dyn Stream<Item = Result<Event, Infallible>> + Send>>>>;

/// The log of `id` after the event `after`, without end.
pub(super) fn follow(shared: &Arc<Shared>, id: ConversationId, after: Seq) -> Result<Messages, Problem> {
    let permit = Arc::clone(&shared.followers).try_acquire_owned().map_err(|_| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-followers", "as many logs are followed as this server can; try again later")
    })?;
    let follower = Follower {
        id,
        after,
        // Before the first read: what is appended after that read leaves a hint here.
        hints: shared.hints.watch(id),
        next_look: Instant::now(),
        ready: VecDeque::new(),
        over: false,
        shutdown: shared.shutdown.clone(),
        shared: Arc::clone(shared),
        _permit: permit,
    };
    let messages: std::pin::Pin<Box<dyn Stream<Item = _> + Send>> = Box::pin(futures::stream::unfold(follower, Follower::next));
    Ok(Sse::new(messages).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

struct Follower {
    shared: Arc<Shared>,
    id: ConversationId,
    /// The last event that was read.
    after: Seq,
    hints: Subscription,
    /// When to read, whatever the hints say.
    next_look: Instant,
    /// Read and not yet taken by the client.
    ready: VecDeque<Event>,
    /// Nothing more will be read.
    over: bool,
    shutdown: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl Follower {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((Ok(event), self));
            }
            if self.over || self.shutdown.is_cancelled() {
                return None;
            }
            if Instant::now() >= self.next_look {
                self.look().await;
            } else {
                self.wait().await;
            }
        }
    }

    /// Reads a page.
    async fn look(&mut self) {
        match self.shared.store.read(self.id, events::page(self.after)).await {
            Ok(page) => {
                self.next_look = Instant::now();
                if u64::try_from(page.len()).is_ok_and(|read| read < events::EVENTS) {
                    self.next_look += SWEEP;
                }
                if let Some(last) = page.last() {
                    self.after = last.seq;
                }
                self.ready.extend(page.into_iter().map(|event| {
                    let id = event.seq.to_string();
                    message(&wire::Streamed::Log(event)).id(id)
                }));
            }
            Err(cause) => {
                let problem = Problem::from(cause);
                if problem.is_lasting() {
                    self.ready.push_back(message(&wire::Streamed::Problem(problem.document())));
                    self.over = true;
                }
                self.next_look = Instant::now() + RETRY;
            }
        }
    }

    /// Until there is a reason to look, or a delta.
    async fn wait(&mut self) {
        tokio::select! {
            () = self.shutdown.cancelled() => {}
            () = tokio::time::sleep_until(self.next_look) => {}
            hint = self.hints.next() => match hint {
                Ok(Hint::Appended { tail, .. }) if tail <= self.after => {}
                Ok(Hint::Delta { text, .. }) => self.ready.push_back(message(&wire::Streamed::Delta(text))),
                Ok(Hint::Restart(_)) => self.ready.push_back(message(&wire::Streamed::Restart)),
                Ok(_) | Err(Missed) => self.next_look = Instant::now(),
            },
        }
    }
}

fn message(streamed: &wire::Streamed) -> Event {
    // Every document of the API serialises; were one not to, the client would find a gap and come back.
    Event::default().json_data(streamed).unwrap_or_else(|_| Event::default().comment("unserialisable"))
}
