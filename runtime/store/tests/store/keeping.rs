//! Settings, the registry, blobs and notes.

use std::collections::BTreeMap;

use futures::future::join_all;
use thetis_core::id::Digest;
use thetis_core::settings::{AspectKind, CacheVendor, Choice, Grants, Mode, Model, Prices, Skill};
use thetis_core::tool::{Manifest, Replay};
use thetis_store::blob;
use thetis_store::lease::{Handover, Hold};
use thetis_store::note;
use thetis_store::open::{Options, Store};
use thetis_store::registry::{NewRevision, Ran};
use thetis_store::seal::{SealingKey, Secret};
use thetis_store::settings::{Error, Kind, SettingsSet};

use crate::database::{TTL, choice, claimed, connect, empty, id, options, store};

fn mode(instructions: &str) -> Mode {
    Mode { title: "Agent".into(), read_only: false, tools: None, instructions: instructions.into() }
}

fn skill(title: &str) -> Skill {
    Skill { title: title.into(), description: "When it helps.".into(), instructions: "Do \u{0} this".into() }
}

fn model() -> Model {
    Model {
        wire_id: "mock/echo".into(),
        base_url: "http://127.0.0.1:7788/v1".into(),
        keyed: true,
        cache: CacheVendor::Implicit,
        context_tokens: 1000,
        output_tokens: 100,
        prices: Prices::default(),
    }
}

fn set() -> SettingsSet {
    SettingsSet {
        modes: BTreeMap::from([("agent".into(), mode("")), ("plan".into(), mode("Only plan."))]),
        skills: BTreeMap::from([("style".into(), skill("Style")), ("git".into(), skill("Git"))]),
        models: BTreeMap::from([("echo".into(), (model(), Some(Secret::new("sk-1".into()))))]),
    }
}

/// What a database that is read by others shows of a table: every row's version, and everything in it as text.
async fn dump(url: &str, table: &str) -> Vec<String> {
    let rows = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select xmin::text || t::text from {table} t order by 1")));
    rows.fetch_all(&mut connect(url).await).await.unwrap()
}

#[tokio::test]
async fn settings_come_back_by_name() {
    let store = store().await;
    assert!(store.put_settings("default", &set()).await.unwrap());
    let both = Choice { skills: vec!["style".into(), "git".into()], ..choice() };
    let found = store.settings("default", &both).await.unwrap();
    assert_eq!((found.mode.name.as_str(), &found.mode.value), ("agent", &mode("")));
    assert_eq!(found.mode.digest, Digest::of(&serde_json::to_vec(&mode("")).unwrap()));
    assert_eq!((&found.model.value, found.key.as_ref().map(Secret::expose)), (&model(), Some("sk-1")));
    assert_eq!(found.skills.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(), ["style", "git"], "in the order of the choice");
    assert_eq!(found.skills[1].value, skill("Git"));
    assert_eq!(store.settings("default", &Choice { skills: vec![], ..choice() }).await.unwrap().skills, []);
    for (namespace, choice, kind, name) in [
        ("default", Choice { mode: "yolo".into(), ..choice() }, Kind::Mode, "yolo"),
        ("default", Choice { model: "agent".into(), ..choice() }, Kind::Model, "agent"),
        ("default", Choice { skills: vec!["git".into(), "plan".into()], ..choice() }, Kind::Skill, "plan"),
        ("other", choice(), Kind::Model, "echo"),
    ] {
        let error = store.settings(namespace, &choice).await.unwrap_err();
        assert!(matches!(&error, Error::Missing { kind: k, name: n, .. } if *k == kind && n == name), "{error}");
    }
}

#[tokio::test]
async fn settings_are_replaced_as_a_whole_and_only_where_they_differ() {
    let url = empty().await;
    let store = Store::open(options(&url)).await.unwrap();
    store.put_settings("default", &set()).await.unwrap();
    store.put_settings("other", &set()).await.unwrap();
    let before = dump(&url, "settings").await;
    assert!(!store.put_settings("default", &set()).await.unwrap());
    assert_eq!(dump(&url, "settings").await, before, "steady state writes nothing");

    let mut other = set();
    other.modes.insert("agent".into(), mode("Be brief."));
    other.skills.remove("git");
    assert!(store.put_settings("default", &other).await.unwrap());
    let after = dump(&url, "settings").await;
    assert_eq!((before.len(), after.len()), (10, 9));
    assert_eq!(after.iter().filter(|row| !before.contains(row)).count(), 1, "one row was written");
    let found = store.settings("default", &choice()).await.unwrap();
    assert_eq!(found.mode.value, mode("Be brief."));

    let mut rotated = other.clone();
    rotated.models.insert("echo".into(), (model(), Some(Secret::new("sk-2".into()))));
    assert!(store.put_settings("default", &rotated).await.unwrap());
    let rotated = store.settings("default", &choice()).await.unwrap();
    assert_eq!(rotated.key.unwrap().expose(), "sk-2");
    assert_eq!(rotated.model.digest, found.model.digest, "a key is not what a model is");
    assert!(store.put_settings("default", &SettingsSet::default()).await.unwrap());
    assert_eq!(dump(&url, "settings").await.len(), 5, "the other namespace's");
}

#[tokio::test]
async fn a_key_lies_sealed_and_opens_only_with_the_sealing_key() {
    let url = empty().await;
    let store = Store::open(options(&url)).await.unwrap();
    store.put_settings("default", &set()).await.unwrap();
    assert!(!dump(&url, "settings").await.iter().any(|row| row.contains("sk-1") || row.contains("736b2d31")));
    let other = Options { sealing_key: SealingKey::new([8; 32]), ..options(&url) };
    let other = Store::open(other).await.unwrap();
    let error = other.settings("default", &choice()).await.unwrap_err();
    assert!(matches!(&error, Error::Key { name, .. } if name == "echo"), "{error}");
    assert!(!format!("{error:?}").contains("sk-1"));
    // Put again under the new sealing key, it is there again.
    assert!(other.put_settings("default", &set()).await.unwrap());
    assert_eq!(other.settings("default", &choice()).await.unwrap().key.unwrap().expose(), "sk-1");
    // A row that is moved to another model's place opens nowhere.
    sqlx::query("update settings set name = 'opus' where kind = 'model'").execute(&mut connect(&url).await).await.unwrap();
    let error = other.settings("default", &Choice { model: "opus".into(), ..choice() }).await.unwrap_err();
    assert!(matches!(&error, Error::Key { name, .. } if name == "opus"), "{error}");
}

fn revision(name: &str, component: &'static str) -> NewRevision {
    NewRevision {
        namespace: "default".into(),
        kind: AspectKind::Tool,
        name: name.into(),
        grants: Grants::default(),
        component: component.into(),
        manifest: Some(Manifest {
            name: name.to_uppercase(),
            description: "Does it.".into(),
            input_schema: serde_json::json!({ "type": "object" }),
            mutating: false,
            parallel: true,
            replay: Replay::Safe,
        }),
    }
}

#[tokio::test]
async fn a_component_becomes_a_revision_once() {
    let url = empty().await;
    let store = Store::open(options(&url)).await.unwrap();
    assert_eq!(store.active("default", AspectKind::Tool, "fetch").await.unwrap(), None);
    let numbers = join_all(vec![revision("fetch", "one"); 8].iter().map(|new| store.register(new))).await;
    assert!(numbers.into_iter().all(|number| number.unwrap() == 1), "eight at once make one");
    let before = dump(&url, "aspect").await;
    store.register(&revision("fetch", "one")).await.unwrap();
    assert_eq!(dump(&url, "aspect").await, before, "steady state writes nothing");

    assert_eq!(store.register(&revision("fetch", "two")).await.unwrap(), 2);
    assert_eq!(store.register(&revision("fetch", "one")).await.unwrap(), 3, "going back is a revision too");
    assert_eq!(store.register(&revision("add", "three")).await.unwrap(), 1);
    let agent = NewRevision { kind: AspectKind::Agent, manifest: None, ..revision("fetch", "four") };
    assert_eq!(store.register(&agent).await.unwrap(), 1, "names are each kind's own");
    assert_eq!(store.register(&NewRevision { namespace: "other".into(), ..agent }).await.unwrap(), 1);

    let tools = store.active_tools("default").await.unwrap();
    let line: Vec<_> = tools.iter().map(|tool| (tool.name.as_str(), tool.revision, tool.component)).collect();
    assert_eq!(line, [("add", 1, Digest::of(b"three")), ("fetch", 3, Digest::of(b"one"))]);
    assert_eq!(tools[1].manifest, revision("fetch", "").manifest);
    assert_eq!(store.blob(tools[1].component).await.unwrap().as_deref(), Some("one".as_bytes()));

    let granted = Grants { notes: true, egress: vec!["example.org".into()] };
    assert_eq!(store.register(&NewRevision { grants: granted.clone(), ..revision("fetch", "one") }).await.unwrap(), 3);
    assert_eq!(store.active("default", AspectKind::Tool, "fetch").await.unwrap().unwrap().grants, granted);

    let snapshots = store.snapshots("default", 9).await.unwrap();
    assert_eq!(snapshots.iter().map(|snapshot| snapshot.number).collect::<Vec<_>>(), [5, 4, 3, 2, 1]);
    let ran = |kind, name: &str, revision| Ran { kind, name: name.into(), revision };
    let all = [ran(AspectKind::Agent, "fetch", 1), ran(AspectKind::Tool, "add", 1), ran(AspectKind::Tool, "fetch", 3)];
    assert_eq!(snapshots[0].aspects, all);
    assert_eq!(snapshots[3].aspects, [ran(AspectKind::Tool, "fetch", 2)]);
    assert_eq!(store.snapshots("default", 1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn blobs() {
    let url = empty().await;
    let store = Store::open(options(&url)).await.unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
    let digest = store.put_blob(&bytes).await.unwrap();
    assert_eq!(store.put_blob(bytes.clone()).await.unwrap(), digest);
    assert_eq!(store.blob(digest).await.unwrap(), Some(bytes));
    assert_eq!(store.blob(Digest::of(b"never put")).await.unwrap(), None);
    let empty = store.put_blob("").await.unwrap();
    assert_eq!(store.blob(empty).await.unwrap(), Some(vec![]));
    assert!(matches!(store.put_blob(vec![0; blob::MAX_BYTES + 1]).await, Err(blob::Error::TooLarge { .. })));
    sqlx::query("update blob set bytes = 'x' where bytes <> ''").execute(&mut connect(&url).await).await.unwrap();
    assert!(matches!(store.blob(digest).await, Err(blob::Error::Damaged(_))));
}

#[tokio::test]
async fn notes_keep_their_bounds() {
    let store = store().await;
    let hold = claimed(&store, 1).await.hold;
    store.put_note(hold, "color", "red").await.unwrap();
    store.put_note(hold, "color", "green \u{0} blue").await.unwrap();
    assert_eq!(store.note(id(1), "color").await.unwrap().as_deref(), Some("green \u{0} blue"));
    assert_eq!(store.note(id(1), "colour").await.unwrap(), None);
    assert_eq!(store.note(id(2), "color").await.unwrap(), None);
    for key in ["", &"k".repeat(129)] {
        let error = store.put_note(hold, key, "x").await.unwrap_err();
        assert!(matches!(error, note::Error::Key { .. }) && error.is_refusal(), "{error}");
        assert!(store.note(id(1), key).await.unwrap_err().is_refusal());
    }
    let longest = "é".repeat(note::CONTENT_BYTES / 2);
    store.put_note(hold, &"k".repeat(128), &longest).await.unwrap();
    assert!(matches!(store.put_note(hold, "long", &format!("{longest}.")).await, Err(note::Error::Content { .. })));
    assert_eq!(store.note_keys(id(1)).await.unwrap(), ["color", &"k".repeat(128)]);
}

#[tokio::test]
async fn racing_notes_do_not_exceed_the_count() {
    let store = store().await;
    let hold = claimed(&store, 1).await.hold;
    let keys: Vec<String> = (0..note::NOTES + 20).map(|number| format!("{number:03}")).collect();
    let answers = join_all(keys.iter().map(|key| store.put_note(hold, key, "x"))).await;
    let full = answers.iter().filter(|answer| matches!(answer, Err(note::Error::Full))).count();
    assert_eq!(full, 20);
    let kept = store.note_keys(id(1)).await.unwrap();
    assert_eq!(kept.len(), note::NOTES as usize);
    store.put_note(hold, &kept[7], "written over").await.unwrap();
    store.release(hold, Handover::Planned).await.unwrap();
    let claim = store.claim(id(1), "there", TTL).await.unwrap().unwrap();
    assert!(matches!(store.put_note(hold, &kept[7], "late").await, Err(note::Error::Fenced)));
    store.put_note(claim.hold, &kept[8], "mine").await.unwrap();
    let nobody = Hold { conversation: id(9), ..claim.hold };
    assert!(matches!(store.put_note(nobody, "a", "b").await, Err(note::Error::Fenced)));
    store.remove(id(1)).await.unwrap();
    assert!(store.note_keys(id(1)).await.unwrap().is_empty() && crate::database::log(&store, 1).await.is_empty());
    assert!(matches!(store.put_note(claim.hold, "a", "b").await, Err(note::Error::Fenced)));
}
