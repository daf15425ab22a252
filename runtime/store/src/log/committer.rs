//! Group append: whatever waits while a commit runs is the next one. IO.
//!
//! A few committers, each with a connection of its own; a conversation always goes to the same one, so its appends stay in
//! order and no two commits wait for each other's row locks. Queues are bounded: a database that stalls makes callers wait or
//! turn away, never this process grow.

use std::collections::{HashSet, VecDeque};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};
use thetis_core::id::ConversationId;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::batch::{self, Encoded};
use super::{Append, Appended, append};
use crate::fault::Fault;

/// Appends that wait for one committer; the next is turned away.
const QUEUE: usize = 4096;
/// Conversations of one commit. More would make the first of them wait for little gain.
const CONVERSATIONS: usize = 512;
/// Bytes of one commit, beyond which no further append joins it.
const BYTES: usize = 4 << 20;
/// A connection that was idle for longer is asked whether it still is one, before an append's fate hangs on it.
const IDLE: Duration = Duration::from_secs(1);

/// The queues.
#[derive(Clone)]
pub(crate) struct Appender(Arc<[mpsc::Sender<Job>]>);

struct Job {
    append: Encoded,
    reply: oneshot::Sender<Result<Appended, append::Error>>,
}

impl Job {
    fn answer(self, answer: Result<Appended, append::Error>) {
        // Nobody has to be waiting any more.
        let _ = self.reply.send(answer);
    }
}

impl Appender {
    /// Starts the committers; they end when the last clone is gone and what was queued is written.
    pub(crate) fn start(connect: &PgConnectOptions, committers: usize, patience: Duration) -> Self {
        // The one statement's best plan does not depend on what is in its arrays.
        let connect = connect.clone().options([("plan_cache_mode", "force_generic_plan")]);
        let start = |_| {
            let (sender, jobs) = mpsc::channel(QUEUE);
            tokio::spawn(Committer { connect: connect.clone(), connection: None, patience }.run(jobs));
            sender
        };
        Self((0..committers).map(start).collect())
    }

    pub(crate) async fn append(&self, append: Append) -> Result<Appended, append::Error> {
        let append = Encoded::of(&append)?;
        let (reply, answer) = oneshot::channel();
        let queue = self.queue(append.conversation).ok_or_else(gone)?;
        queue.try_send(Job { append, reply }).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => append::Error::Busy,
            mpsc::error::TrySendError::Closed(_) => gone(),
        })?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    fn queue(&self, conversation: ConversationId) -> Option<&mpsc::Sender<Job>> {
        // Both kinds of id are random in all of their bytes but two.
        let [.., last] = conversation.0.into_bytes();
        self.0.get(usize::from(last) % self.0.len())
    }
}

/// A committer ends only with its runtime.
fn gone() -> append::Error {
    append::Error::Unavailable(Fault::of(sqlx::Error::WorkerCrashed))
}

struct Committer {
    connect: PgConnectOptions,
    connection: Option<(PgConnection, Instant)>,
    patience: Duration,
}

impl Committer {
    async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut waiting = VecDeque::new();
        loop {
            if waiting.is_empty() {
                match jobs.recv().await {
                    Some(job) => waiting.push_back(job),
                    None => return,
                }
            }
            while waiting.len() < CONVERSATIONS
                && let Ok(job) = jobs.try_recv()
            {
                waiting.push_back(job);
            }
            self.commit(take_batch(&mut waiting)).await;
        }
    }

    /// Commits a batch and answers for each append of it. One that the database refuses must not take its neighbours down:
    /// the batch is halved until the refused one is alone.
    async fn commit(&mut self, batch: Vec<Job>) {
        let mut parts = vec![batch];
        while let Some(mut part) = parts.pop() {
            match self.attempt(&part).await {
                Ok((written, rows)) => {
                    for job in part {
                        let verdict = batch::verdict(&job.append, &written, &rows);
                        job.answer(verdict);
                    }
                }
                Err(Fault::Refused(_)) if part.len() > 1 => {
                    parts.push(part.split_off(part.len() / 2));
                    parts.push(part);
                }
                Err(fault) => {
                    tracing::warn!(error = &fault as &dyn Error, appends = part.len(), "appends failed");
                    if fault.is_retryable() {
                        self.connection = None;
                    }
                    for job in part {
                        job.answer(Err(append::Error::of(fault.clone())));
                    }
                }
            }
        }
    }

    async fn attempt(&mut self, part: &[Job]) -> Result<(batch::Written, batch::Rows), Fault> {
        let patience = self.patience;
        let appends: Vec<&Encoded> = part.iter().map(|job| &job.append).collect();
        let attempt = async {
            let connection = self.connection().await?;
            let written = batch::write(connection, &appends).await?;
            let rows = batch::missed(connection, &appends, &written).await?;
            Ok((written, rows))
        };
        match tokio::time::timeout(patience, attempt).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(cause)) => Err(Fault::of(cause)),
            Err(_) => Err(Fault::late()),
        }
    }

    async fn connection(&mut self) -> Result<&mut PgConnection, sqlx::Error> {
        let kept = match self.connection.take() {
            Some((mut connection, used)) if used.elapsed() > IDLE => connection.ping().await.is_ok().then_some(connection),
            kept => kept.map(|(connection, _)| connection),
        };
        let connection = match kept {
            Some(connection) => connection,
            None => PgConnection::connect_with(&self.connect).await?,
        };
        Ok(&mut self.connection.insert((connection, Instant::now())).0)
    }
}

/// Takes from the front what goes into one commit: one append per conversation, since each is checked against the row as it
/// stands, and no more bytes than are good for the rest.
fn take_batch(waiting: &mut VecDeque<Job>) -> Vec<Job> {
    let (mut batch, mut later) = (Vec::with_capacity(waiting.len()), VecDeque::new());
    let (mut seen, mut bytes) = (HashSet::with_capacity(waiting.len()), 0_usize);
    while let Some(job) = waiting.pop_front() {
        if bytes < BYTES && seen.insert(job.append.conversation) {
            bytes = bytes.saturating_add(job.append.bytes);
            batch.push(job);
        } else {
            later.push_back(job);
        }
    }
    *waiting = later;
    batch.sort_unstable_by_key(|job| job.append.conversation);
    batch
}
