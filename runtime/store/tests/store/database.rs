//! One private server per test process, a database of its own for each test.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};
use thetis_core::event::{Body, Event, Source, Text, UserMessage};
use thetis_core::id::{ConversationId, Seq, SeqRange};
use thetis_core::settings::{Choice, Limits};
use thetis_postgres::Postgres;
use thetis_store::conversation::New;
use thetis_store::lease::{Claim, Hold};
use thetis_store::log::{Append, Appended, append};
use thetis_store::open::{Options, Store};
use thetis_store::seal::SealingKey;

/// Long enough that no lease of a test runs out by accident.
pub const TTL: Duration = Duration::from_mins(10);

/// A new, empty database, as a URL.
pub async fn empty() -> String {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let url = tokio::task::spawn_blocking(|| {
        let server = SERVER.get_or_init(|| Postgres::scratch(Some(Path::new(env!("CARGO_TARGET_TMPDIR")))).unwrap());
        server.url()
    });
    let url = url.await.unwrap();
    // The first test of a process, often its only one, takes the database that comes with the server.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    if number == 0 {
        return url;
    }
    let name = format!("test_{number}");
    let mut connection = connect(&url).await;
    sqlx::query(AssertSqlSafe(format!("create database {name} template template0"))).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    url.replace("/postgres?", &format!("/{name}?"))
}

/// A connection beside the store's: to look at what the store hides, and to break things.
pub async fn connect(url: &str) -> PgConnection {
    url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap()
}

pub fn options(url: &str) -> Options {
    Options { connections: 16, ..Options::new(url, SealingKey::new([7; 32])) }
}

/// A store on an empty database.
pub async fn store() -> Store {
    Store::open(options(&empty().await)).await.unwrap()
}

pub fn id(number: u128) -> ConversationId {
    ConversationId(uuid::Uuid::from_u128(number))
}

pub fn choice() -> Choice {
    Choice { mode: "agent".into(), model: "echo".into(), skills: vec!["style".into()], agent: "core".into(), limits: Limits::default() }
}

pub fn message(text: &str) -> UserMessage {
    UserMessage { text: text.into(), attachments: vec![], source: Source::Api }
}

pub fn said(text: &str) -> Body {
    Body::UserMessage(message(text))
}

pub fn note(text: &str) -> Body {
    Body::Note(Text { text: text.into() })
}

pub fn new(number: u128, prompt: Option<&str>) -> New {
    New {
        id: id(number),
        namespace: "default".into(),
        name: format!("c{number}"),
        title: None,
        choice: choice(),
        prompt: prompt.map(message),
    }
}

/// A conversation with a prompt, claimed.
pub async fn claimed(store: &Store, number: u128) -> Claim {
    store.create(&new(number, Some("go"))).await.unwrap();
    store.claim(id(number), "here", TTL).await.unwrap().expect("nobody else is there")
}

pub async fn append(store: &Store, hold: Hold, tail: u64, bodies: &[Body]) -> Result<Appended, append::Error> {
    store.append(Append { hold, tail: Seq(tail), turn: None, bodies: bodies.to_vec(), end: None }).await
}

pub async fn log(store: &Store, number: u128) -> Vec<Event> {
    store.read(id(number), SeqRange { first: Seq(1), last: Seq(u64::MAX) }).await.unwrap()
}

/// Asserts that a log's numbers run from 1 without gaps.
pub fn assert_gapless(events: &[Event]) {
    for (event, seq) in events.iter().zip(1..) {
        assert_eq!(event.seq, Seq(seq));
    }
}
