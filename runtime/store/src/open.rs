//! Opens the store: connects, brings the tables up to date, starts the committers. IO.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, PgPool};

use crate::fault::Fault;
use crate::log::Appender;
use crate::seal::SealingKey;

/// How to open a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// `postgres://…`; a unix socket is `postgres://user@localhost/database?host=/its/folder`.
    pub url: String,
    /// Of the pool that everything but appends uses.
    pub connections: u32,
    /// That appends share, each with its connection. Two overlap one's commit with the other's work; more gain little.
    pub committers: usize,
    /// How long an answer may take before it counts as [`Fault::Unavailable`].
    pub patience: Duration,
    /// Seals model keys.
    pub sealing_key: SealingKey,
}

impl Options {
    /// The defaults: 8 connections, 2 committers, 10 seconds.
    #[must_use]
    pub fn new(url: impl Into<String>, sealing_key: SealingKey) -> Self {
        Self { url: url.into(), connections: 8, committers: 2, patience: Duration::from_secs(10), sealing_key }
    }
}

/// The store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL says nothing that can be connected to. It may hold a password and is not repeated.
    #[error("the database's URL is not one")]
    Url(#[source] sqlx::Error),
    /// No connection.
    #[error("connect to the database {host}")]
    Connect {
        /// The host or socket folder.
        host: String,
        /// What failed.
        #[source]
        fault: Fault,
    },
    /// The tables could not be brought up to date.
    #[error("bring the database's tables up to date")]
    Migrate(#[source] sqlx::migrate::MigrateError),
}

/// The database, and the queue of appends before it. Cheap to clone; the last clone to go ends the committers, which write
/// what was queued first.
#[derive(Clone)]
pub struct Store {
    pub(crate) pool: PgPool,
    pub(crate) appender: Appender,
    pub(crate) sealing_key: Arc<SealingKey>,
    pub(crate) patience: Duration,
}

impl Store {
    /// Connects and applies the migrations that are missing. Several processes may do so at once, of two versions even: an
    /// advisory lock orders them, and tables that a newer version has extended still serve the older one.
    pub async fn open(options: Options) -> Result<Self, Error> {
        let connect: PgConnectOptions = options.url.parse().map_err(Error::Url)?;
        let connect = connect.application_name("thetis");
        let failed = |cause| Error::Connect { host: connect.get_host().to_owned(), fault: Fault::of(cause) };
        migrate(&connect, options.patience, failed).await?;
        let connect = connect.clone().options(patience(options.patience));
        let pool = PgPoolOptions::new()
            .max_connections(options.connections.max(1))
            .acquire_timeout(options.patience)
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    // One in steady use answers; asking each time would cost every question a second round trip.
                    if meta.idle_for > Duration::from_secs(1) {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .test_before_acquire(false)
            .connect_with(connect.clone())
            .await
            .map_err(failed)?;
        let appender = Appender::start(&connect, options.committers.max(1), options.patience);
        Ok(Self { pool, appender, sealing_key: Arc::new(options.sealing_key), patience: options.patience })
    }

    /// Ends the connections of this and every clone. Appends that were queued are still written.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Waits for an answer as long as patience allows.
    pub(crate) async fn ask<T>(&self, question: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, Fault> {
        match tokio::time::timeout(self.patience, question).await {
            Ok(answer) => answer.map_err(Fault::of),
            Err(_) => Err(Fault::late()),
        }
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// Brings the tables up to date, on a connection of its own: a migration may take longer than patience lasts. What a newer
/// version has applied is not an error: migrations only add, so that the version before still runs.
async fn migrate(connect: &PgConnectOptions, patience: Duration, failed: impl Fn(sqlx::Error) -> Error) -> Result<(), Error> {
    let connection = tokio::time::timeout(patience, PgConnection::connect_with(connect)).await;
    let mut connection = connection.unwrap_or_else(|_| Err(sqlx::Error::PoolTimedOut)).map_err(&failed)?;
    let mut migrations = sqlx::migrate!("./migrations");
    migrations.set_ignore_missing(true);
    migrations.run(&mut connection).await.map_err(Error::Migrate)?;
    connection.close().await.map_err(failed)
}

/// The server gives up when the caller does, and does not keep the locks of a caller that vanished.
fn patience(patience: Duration) -> [(&'static str, String); 2] {
    let milliseconds = |factor| patience.saturating_mul(factor).as_millis().clamp(1, 86_400_000).to_string();
    [("statement_timeout", milliseconds(1)), ("idle_in_transaction_session_timeout", milliseconds(2))]
}
