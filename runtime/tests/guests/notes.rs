//! Notes, against a real Postgres: what one call kept another finds, in its conversation and no other.

use std::path::Path;
use std::time::Duration;

use thetis_core::event::{Source, UserMessage};
use thetis_core::id::{ConversationId, Digest, Epoch};
use thetis_core::outcome::Outcome;
use thetis_core::settings::{AspectKind, Choice, Grants, Limits};
use thetis_postgres::Postgres;
use thetis_runtime::guest::{Target, ToolCall, Unfit};
use thetis_runtime::host::notes::Notes;
use thetis_runtime::limits::Bounds;
use thetis_store::Store;
use thetis_store::conversation::New;
use thetis_store::lease::Hold;
use thetis_store::open::Options;
use thetis_store::seal::SealingKey;

use crate::fixture::{Host, aspect};

const GRANTS: Grants = Grants { notes: true, egress: Vec::new() };

/// A server that ends with the test, and a store on it.
async fn store() -> (Postgres, Store) {
    let server = tokio::task::spawn_blocking(|| Postgres::scratch(Some(Path::new(env!("CARGO_TARGET_TMPDIR")))).unwrap());
    let server = server.await.unwrap();
    let store = Store::open(Options::new(server.url(), SealingKey::new([7; 32]))).await.unwrap();
    (server, store)
}

async fn conversation(store: &Store, number: u128) -> Hold {
    let id = ConversationId(uuid::Uuid::from_u128(number));
    let choice = Choice { mode: "m".into(), model: "m".into(), skills: Vec::new(), agent: "a".into(), limits: Limits::default() };
    let prompt = UserMessage { text: "hello".into(), attachments: Vec::new(), source: Source::Api };
    let new = New { id, namespace: "n".into(), name: format!("c{number}"), title: None, choice, prompt: Some(prompt) };
    store.create(&new).await.unwrap();
    store.claim(id, "test", Duration::from_mins(10)).await.unwrap().unwrap().hold
}

async fn call(host: &Host, component: Digest, notes: Option<Notes>, arguments: &str) -> Outcome<String> {
    let call = ToolCall { arguments: arguments.to_owned(), idempotency_key: "key".to_owned(), notes };
    host.guests.call_tool(Target { component, kind: AspectKind::Tool, grants: &GRANTS }, call, &Bounds::default()).await
}

#[tokio::test]
async fn notes_are_kept_in_their_conversation() {
    let (_server, store) = store().await;
    let host = Host::new();
    let (remember, recall) = (host.know(aspect("tool-remember")), host.know(aspect("tool-recall")));
    let notes = async |number| Notes { store: store.clone(), hold: conversation(&store, number).await };
    let (ours, theirs) = (notes(1).await, notes(2).await);

    let kept = call(&host, remember, Some(ours.clone()), r#"{"key":"colour","content":"blue"}"#).await;
    assert!(matches!(kept, Outcome::Answered(_)), "{kept:?}");
    let found = call(&host, recall, Some(ours.clone()), r#"{"key":"colour"}"#).await;
    assert_eq!(found, Outcome::Answered("blue".to_owned()));
    let found = call(&host, recall, Some(theirs), r#"{"key":"colour"}"#).await;
    assert!(matches!(found, Outcome::Refused(_)), "{found:?}");

    let long = format!(r#"{{"key":"{}","content":"x"}}"#, "k".repeat(129));
    let refused = call(&host, remember, Some(ours.clone()), &long).await;
    assert!(matches!(&refused, Outcome::Refused(text) if text.contains("128")), "{refused:?}");

    // A process whose claim was replaced writes nothing, and a call that belongs to no conversation reaches none.
    let late = Notes { hold: Hold { epoch: Epoch(ours.hold.epoch.0 - 1), ..ours.hold }, ..ours.clone() };
    for notes in [Some(late), None] {
        let refused = call(&host, remember, notes, r#"{"key":"colour","content":"red"}"#).await;
        assert!(matches!(refused, Outcome::Refused(_)), "{refused:?}");
    }
    assert_eq!(call(&host, recall, Some(ours), r#"{"key":"colour"}"#).await, Outcome::Answered("blue".to_owned()));
    host.is_healthy().await;
}

#[tokio::test]
async fn notes_are_for_those_who_are_granted_them() {
    let refused = Host::new().guests.admit(aspect("tool-remember").into(), AspectKind::Tool, &Grants::default()).await;
    assert!(matches!(refused, Err(Unfit::World(_))), "{refused:?}");
}
