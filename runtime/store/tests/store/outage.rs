//! The database goes away: errors say that they pass, nothing acknowledged is lost, and the same store goes on afterwards.

use std::time::Duration;

use futures::future::join_all;
use thetis_core::id::{Seq, SeqRange};
use thetis_postgres::{Durability, Postgres};
use thetis_store::lease::Claim;
use thetis_store::log::append;
use thetis_store::open::{self, Options, Store};

use crate::database::{TTL, append, assert_gapless, claimed, connect, empty, id, log, new, note, options, said};

/// Appends notes numbered from 0 until told to stop, reading the log after every lost answer. Returns how many were written.
async fn write(store: &Store, claim: &Claim, stop: &std::sync::atomic::AtomicBool) -> (usize, usize) {
    let number = claim.hold.conversation.0.as_u128();
    let (mut tail, mut written, mut lost) = (1, 0, 0);
    while !stop.load(std::sync::atomic::Ordering::Relaxed) || written == 0 {
        match append(store, claim.hold, tail, &[note(&written.to_string())]).await {
            Ok(done) => (tail, written) = (done.first.0, written + 1),
            // Nobody else writes here: the log moved because the lost answer was a yes.
            Err(append::Error::Moved { tail: now }) => (tail, written) = (now.0, written + usize::try_from(now.0 - tail).unwrap()),
            Err(error) => {
                assert!(error.is_retryable(), "{error}");
                lost += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    // A connection that was in use a moment before the restart is found dead by its next user.
    let events = loop {
        match store.read(id(number), SeqRange { first: Seq(1), last: Seq(u64::MAX) }).await {
            Ok(events) => break events,
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
    };
    assert_gapless(&events);
    let expected: Vec<_> = (0..written).map(|number| note(&number.to_string())).collect();
    assert_eq!(events[1..].iter().map(|event| event.body.clone()).collect::<Vec<_>>(), expected, "each once, in order");
    (written, lost)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_restarts_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let start = || {
        let path = path.clone();
        async { tokio::task::spawn_blocking(move || Postgres::start(&path, Durability::Discardable).unwrap()).await.unwrap() }
    };
    let server = start().await;
    let store = Store::open(options(&server.url())).await.unwrap();
    let claims = join_all((0..8).map(|number| claimed(&store, number))).await;
    let stop = std::sync::atomic::AtomicBool::new(false);
    let restart = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        tokio::task::spawn_blocking(move || server.stop()).await.unwrap();
        // All that the store offers says the same.
        assert!(store.input(id(1), said("hello?")).await.unwrap_err().is_retryable());
        assert!(store.runnable(1).await.unwrap_err().is_retryable());
        assert!(store.create(&new(99, None)).await.unwrap_err().is_retryable());
        assert!(store.note(id(1), "x").await.unwrap_err().is_retryable());
        let server = start().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        server
    };
    let (server, written) = tokio::join!(restart, join_all(claims.iter().map(|claim| write(&store, claim, &stop))));
    assert!(written.iter().all(|(written, lost)| *written > 0 && *lost > 0), "{written:?}");
    while let Err(error) = store.create(&new(100, Some("on we go"))).await {
        assert!(error.is_retryable(), "{error}");
    }
    assert!(store.claim(id(100), "here", TTL).await.unwrap().is_some());
    store.close().await;
    drop(server);
}

/// A database that stalls: the caller's patience ends, the append's fate is open, and trying again tells.
#[tokio::test]
async fn postgres_stalls() {
    let url = empty().await;
    let store = Store::open(Options { patience: Duration::from_millis(300), ..options(&url) }).await.unwrap();
    let claim = claimed(&store, 1).await;
    let mut beside = connect(&url).await;
    sqlx::raw_sql("begin; lock table event").execute(&mut beside).await.unwrap();
    let error = append(&store, claim.hold, 1, &[note("once")]).await.unwrap_err();
    assert!(matches!(error, append::Error::Unavailable(_)), "{error}");
    assert!(store.input(id(1), said("hello?")).await.unwrap_err().is_retryable());
    sqlx::raw_sql("commit").execute(&mut beside).await.unwrap();
    let mut tail = 1;
    let tail = loop {
        match append(&store, claim.hold, tail, &[note("twice")]).await {
            Ok(done) => break done.first,
            Err(append::Error::Moved { tail: now }) => tail = now.0,
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
    };
    let events = log(&store, 1).await;
    assert_gapless(&events);
    assert_eq!(events.last().map(|event| event.seq), Some(tail));
    assert!(events.iter().filter(|event| event.body == note("once")).count() <= 1);
}

#[tokio::test]
async fn no_database_there() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = format!("postgres://thetis@localhost/postgres?host={}", folder.path().display());
    let nowhere = Options { patience: Duration::from_millis(500), ..options(&nowhere) };
    let error = Store::open(nowhere).await.unwrap_err();
    assert!(matches!(&error, open::Error::Connect { fault, .. } if fault.is_retryable()), "{error:?}");
    let error = Store::open(options("postgres://user:hunter2@[/")).await.unwrap_err();
    assert!(matches!(error, open::Error::Url(_)) && !format!("{error}").contains("hunter2"));
    let error = Store::open(options(&empty().await.replace("?host", "_no?host"))).await.unwrap_err();
    assert!(matches!(&error, open::Error::Connect { fault, .. } if !fault.is_retryable()), "{error:?}");
}
