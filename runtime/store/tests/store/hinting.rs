//! Hints between processes, over a real NATS server on this machine.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use thetis_core::id::{ConversationId, Seq};
use thetis_store::hint::{Hint, Hints, Missed, Subscription};
use tokio::time::timeout;

use crate::database::id;

/// A server of our own on a free port of the loopback; gone with this value or with this process.
struct Nats {
    shell: Child,
    url: String,
}

impl Nats {
    /// On a port of its choice, or on the one of `url`.
    async fn start(folder: &Path, url: Option<&str>) -> Self {
        const SHELL: &str = r#"
            exec 3<&0 0</dev/null
            PATH=$PATH:/usr/local/bin:/usr/sbin
            nats-server "$@" 3<&- 2>log &
            server=$!
            ( read -r _ <&3; kill -KILL "$server" ) 2>/dev/null &
            wait "$server""#;
        let port = url.map_or("-1", |url| url.rsplit_once(':').unwrap().1);
        let mut shell = Command::new("sh");
        shell.args(["-c", SHELL, "nats", "-a", "127.0.0.1", "-p", port, "--ports_file_dir", "."]).current_dir(folder);
        let shell = shell.stdin(Stdio::piped()).spawn().unwrap();
        let url = loop {
            let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let ports = files.filter(|path| path.extension().is_some_and(|extension| extension == "ports"));
            let texts: Vec<String> = ports.map(|path| std::fs::read_to_string(path).unwrap()).collect();
            let url =
                texts.iter().find_map(|text| serde_json::from_str::<serde_json::Value>(text).ok()?["nats"][0].as_str().map(str::to_owned));
            if let Some(url) = url {
                break url;
            }
            assert!(!std::fs::read_to_string(folder.join("log")).unwrap_or_default().contains("not found"), "no nats-server here");
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        Self { shell, url }
    }

    /// Killed, not shut down.
    fn kill(mut self, folder: &Path) {
        drop(self.shell.stdin.take());
        self.shell.wait().unwrap();
        for entry in std::fs::read_dir(folder).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
}

/// The next hint, whatever was missed before it; none where nothing comes for a while.
async fn next(subscription: &mut Subscription) -> Option<Hint> {
    let hint = async {
        loop {
            if let Ok(hint) = subscription.next().await {
                return hint;
            }
        }
    };
    timeout(Duration::from_millis(100), hint).await.ok()
}

/// Says it until it is heard: nobody tells when a subscription or a connection has come about.
async fn say_until_heard(from: &Hints, hint: Hint, by: &mut Subscription) {
    let repeat = async {
        loop {
            from.publish(hint.clone());
            if next(by).await.as_ref() == Some(&hint) {
                return;
            }
        }
    };
    timeout(Duration::from_secs(30), repeat).await.expect("it is heard");
    while next(by).await.is_some() {}
}

fn appended(conversation: ConversationId, tail: u64) -> Hint {
    Hint::Appended { conversation, tail: Seq(tail) }
}

#[tokio::test]
async fn from_one_process_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let server = Nats::start(folder.path(), None).await;
    let (here, there) = (Hints::nats(&server.url).await.unwrap(), Hints::nats(&server.url).await.unwrap());
    let (mut own, mut work, mut watching, mut other) = (here.work(), there.work(), there.watch(id(1)), there.watch(id(2)));
    say_until_heard(&here, Hint::Runnable(id(0)), &mut work).await;
    say_until_heard(&here, appended(id(1), 0), &mut watching).await;
    while next(&mut own).await.is_some() {}

    let text = "a part \u{0} and \"more\"".to_owned();
    let hints = [Hint::Delta { conversation: id(1), text }, Hint::Restart(id(1)), appended(id(1), 7)];
    for hint in hints.clone() {
        here.publish(hint);
    }
    here.publish(Hint::Cancel(id(1)));
    for hint in hints {
        assert_eq!(next(&mut watching).await, Some(hint), "in order");
    }
    assert_eq!(next(&mut work).await, Some(Hint::Cancel(id(1))));
    assert_eq!(next(&mut own).await, Some(Hint::Cancel(id(1))));
    for subscription in [&mut own, &mut work, &mut watching, &mut other] {
        assert_eq!(next(subscription).await, None, "once each, and only where it is listened for");
    }
    // Too long for the wire: it stays where it is.
    here.publish(Hint::Delta { conversation: id(1), text: "x".repeat(100_000) });
    here.publish(appended(id(1), 8));
    assert_eq!(next(&mut watching).await, Some(appended(id(1), 8)));
}

#[tokio::test]
async fn what_is_no_hint_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let server = Nats::start(folder.path(), None).await;
    let hints = Hints::nats(&server.url).await.unwrap();
    let mut work = hints.work();
    say_until_heard(&Hints::nats(&server.url).await.unwrap(), Hint::Runnable(id(0)), &mut work).await;
    let stranger = async_nats::connect(&server.url).await.unwrap();
    for payload in ["", "{}", "\u{0}", r#"{"hint":"explode","of":1}"#, r#"{"hint":"cancel","of":"00000000-0000-0000-0000-000000000007"}"#] {
        stranger.publish("thetis.work", payload.into()).await.unwrap();
    }
    assert_eq!(next(&mut work).await, Some(Hint::Cancel(id(7))));
}

#[tokio::test]
async fn without_a_server_hints_stay_here() {
    // Nothing listens on port 1.
    let hints = Hints::nats("nats://127.0.0.1:1").await.unwrap();
    let mut watching = hints.watch(id(1));
    for tail in 0..10_000 {
        hints.publish(appended(id(1), tail));
    }
    assert_eq!(watching.next().await, Err(Missed), "faster than its listener");
    let mut last = None;
    while let Some(hint) = next(&mut watching).await {
        last = Some(hint);
    }
    assert_eq!(last, Some(appended(id(1), 9_999)));
    assert!(Hints::nats("not a url at all").await.is_err());
}

#[tokio::test]
async fn a_server_that_dies_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let server = Nats::start(folder.path(), None).await;
    let (here, there) = (Hints::nats(&server.url).await.unwrap(), Hints::nats(&server.url).await.unwrap());
    let (mut own, mut work) = (here.work(), there.work());
    say_until_heard(&here, Hint::Runnable(id(0)), &mut work).await;
    while next(&mut own).await.is_some() {}

    let url = server.url.clone();
    server.kill(folder.path());
    for number in 0..5_000 {
        here.publish(Hint::Runnable(id(number)));
    }
    assert!(next(&mut own).await.is_some(), "this process goes on");

    let _server = Nats::start(folder.path(), Some(&url)).await;
    let missed = async { while work.next().await != Err(Missed) {} };
    timeout(Duration::from_secs(30), missed).await.expect("it is told that hints were lost");
    say_until_heard(&here, Hint::Cancel(id(9)), &mut work).await;
}
