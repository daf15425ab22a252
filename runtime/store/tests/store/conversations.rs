//! Rows of conversations: made once, declared, chosen, closed, listed.

use thetis_core::id::Seq;
use thetis_core::settings::Choice;
use thetis_store::conversation::{Created, Error, New, State};
use thetis_store::log::input;
use thetis_store::open::Store;

use crate::database::{TTL, append, choice, claimed, empty, id, log, message, new, note, options, said, store};

#[tokio::test]
async fn made_once_with_its_prompt() {
    let store = store().await;
    assert_eq!(store.create(&new(1, Some("Good morning"))).await.unwrap(), Created::Now);
    assert_eq!(store.create(&new(1, Some("Good evening"))).await.unwrap(), Created::Before);
    let events = log(&store, 1).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].body, said("Good morning"));
    assert_eq!(events[0].turn, None);
    let row = store.conversation("default", "c1").await.unwrap().unwrap();
    assert_eq!((row.id, row.tail, row.state, row.attempts, &row.choice), (id(1), Seq(1), State::Idle, 0, &choice()));
    assert_eq!(store.runnable(9).await.unwrap(), [id(1)]);
}

#[tokio::test]
async fn a_name_belongs_to_one_until_it_is_done() {
    let store = store().await;
    store.create(&new(1, None)).await.unwrap();
    let other = New { id: id(2), prompt: Some(message("hi")), ..new(1, None) };
    let error = store.create(&other).await.unwrap_err();
    assert!(matches!(&error, Error::NameTaken { name, .. } if name == "c1"), "{error}");
    assert!(log(&store, 2).await.is_empty());
    store.create(&New { namespace: "elsewhere".into(), ..other.clone() }).await.unwrap();
    store.finish(id(1)).await.unwrap();
    store.create(&New { id: id(3), ..other }).await.unwrap();
    assert_eq!(store.conversation("default", "c1").await.unwrap().unwrap().id, id(3));
    assert_eq!(store.conversation_by_id(id(1)).await.unwrap().unwrap().state, State::Done);
}

#[tokio::test]
async fn a_choice_holds_until_the_declared_one_is_edited() {
    let store = store().await;
    store.create(&new(1, None)).await.unwrap();
    let with = |mode: &str| Choice { mode: mode.into(), ..choice() };
    let mode = async || store.conversation_by_id(id(1)).await.unwrap().unwrap().choice.mode;
    assert!(!store.declare(id(1), &choice()).await.unwrap());
    store.choose(id(1), &with("plan")).await.unwrap();
    assert_eq!(mode().await, "plan");
    assert!(!store.declare(id(1), &choice()).await.unwrap(), "not an edit");
    assert_eq!(mode().await, "plan");
    assert!(store.declare(id(1), &with("careful")).await.unwrap());
    assert_eq!(mode().await, "careful");
    for error in [store.declare(id(9), &choice()).await.unwrap_err(), store.choose(id(9), &choice()).await.unwrap_err()] {
        assert!(matches!(error, Error::Unknown(_)), "{error}");
    }
}

#[tokio::test]
async fn a_finished_one_takes_no_input_and_fences_its_writer() {
    let store = store().await;
    let claim = claimed(&store, 1).await;
    store.finish(id(1)).await.unwrap();
    append(&store, claim.hold, 1, &[note("late")]).await.unwrap_err();
    assert!(matches!(store.input(id(1), said("more")).await, Err(input::Error::Done(_))));
    assert!(matches!(store.input(id(2), said("more")).await, Err(input::Error::Unknown(_))));
    assert!(store.runnable(9).await.unwrap().is_empty());
    assert!(store.claim(id(1), "there", TTL).await.unwrap().is_none());
    assert_eq!(log(&store, 1).await.len(), 1);
}

#[tokio::test]
async fn a_suspended_one_waits() {
    let store = store().await;
    store.create(&new(1, Some("go"))).await.unwrap();
    store.suspend(id(1), true).await.unwrap();
    assert!(store.runnable(9).await.unwrap().is_empty());
    assert!(store.claim(id(1), "here", TTL).await.unwrap().is_none());
    store.suspend(id(1), false).await.unwrap();
    assert!(store.claim(id(1), "here", TTL).await.unwrap().is_some());
}

#[tokio::test]
async fn listed_by_namespace_and_name() {
    let store = store().await;
    for (number, namespace) in [(3, "b"), (1, "b"), (2, "a")] {
        store.create(&New { namespace: namespace.into(), ..new(number, None) }).await.unwrap();
    }
    let names = async |namespace, limit| {
        let rows = store.conversations(namespace, limit).await.unwrap();
        rows.into_iter().map(|row| row.name).collect::<Vec<_>>()
    };
    assert_eq!(names(None, 9).await, ["c2", "c1", "c3"]);
    assert_eq!(names(Some("b"), 9).await, ["c1", "c3"]);
    assert_eq!(names(None, 1).await, ["c2"]);
}

#[tokio::test]
async fn several_processes_open_a_new_database_at_once() {
    let url = empty().await;
    let stores = futures::future::join_all((0..4).map(|_| Store::open(options(&url)))).await;
    for store in stores {
        store.unwrap().create(&new(1, None)).await.unwrap();
    }
}

/// A version that is one migration behind starts on what a newer one left.
#[tokio::test]
async fn an_older_version_opens_a_newer_database() {
    let url = empty().await;
    Store::open(options(&url)).await.unwrap();
    let mut beside = crate::database::connect(&url).await;
    sqlx::query(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time) values (9999, 'later', true, '', 0)",
    )
    .execute(&mut beside)
    .await
    .unwrap();
    Store::open(options(&url)).await.unwrap().create(&new(1, None)).await.unwrap();
}
