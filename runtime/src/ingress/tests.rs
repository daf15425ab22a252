use std::net::SocketAddr;
use std::time::Duration;

use axum::http::{HeaderMap, Method, Request, StatusCode};
use bytes::Bytes;
use expect_test::{Expect, expect};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use thetis_core::event::Body;
use thetis_core::id::Seq;
use thetis_core::settings::{AspectKind, CacheVendor, Grants, Mode, Model, Prices};
use thetis_postgres::Postgres;
use thetis_store::hint::{Hint, Hints};
use thetis_store::registry::NewRevision;
use thetis_store::seal::SealingKey;
use thetis_store::settings::SettingsSet;
use thetis_store::{Store, open};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::*;

/// An API on a database of its own.
struct Api {
    address: SocketAddr,
    store: Store,
    hints: Hints,
    shutdown: CancellationToken,
    served: tokio::task::JoinHandle<()>,
    _postgres: Postgres,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Api {
    async fn start() -> Self {
        let postgres = tokio::task::spawn_blocking(|| Postgres::scratch(std::env::current_exe().unwrap().parent())).await.unwrap().unwrap();
        let store = Store::open(open::Options::new(postgres.url(), SealingKey::generate())).await.unwrap();
        let mode = Mode { title: "Agent".into(), read_only: false, tools: None, instructions: String::new() };
        let model = Model {
            wire_id: "mock/echo".into(),
            base_url: "http://127.0.0.1:1/v1".into(),
            keyed: false,
            cache: CacheVendor::Implicit,
            context_tokens: 100_000,
            output_tokens: 1000,
            prices: Prices::default(),
        };
        let mut settings = SettingsSet::default();
        settings.modes.insert("agent".into(), mode);
        settings.models.insert("default".into(), (model, None));
        store.put_settings("default", &settings).await.unwrap();
        let agent = NewRevision {
            namespace: "default".into(),
            kind: AspectKind::Agent,
            name: "agent".into(),
            grants: Grants::default(),
            component: Bytes::from_static(b"not run here"),
            manifest: None,
        };
        store.register(&agent).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, hints, shutdown) = (listener.local_addr().unwrap(), Hints::local(), CancellationToken::new());
        let options = Options { store: store.clone(), hints: hints.clone(), hosts: vec![address.to_string()] };
        let served = tokio::spawn(serve(listener, options, shutdown.clone()));
        Self { address, store, hints, shutdown, served, _postgres: postgres }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> hyper::Response<hyper::body::Incoming> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await.unwrap()
    }

    fn request(&self, method: Method, path: &str) -> http::request::Builder {
        Request::builder().method(method).uri(path).header("host", self.address.to_string())
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Answer {
        let response = self.send(request).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Answer { status, headers, text }
    }

    async fn get(&self, path: &str) -> Answer {
        self.answer(self.request(Method::GET, path).body(Full::default()).unwrap()).await
    }

    async fn post(&self, path: &str, body: &str) -> Answer {
        let request = self.request(Method::POST, path).header("content-type", "application/json; charset=utf-8");
        self.answer(request.body(Full::from(body.to_owned())).unwrap()).await
    }

    async fn made(&self, name: &str) -> wire::Conversation {
        let answer = self.post("/api/v1/conversations", &format!(r#"{{"name":"{name}"}}"#)).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
        serde_json::from_str(&answer.text).unwrap()
    }

    async fn say(&self, name: &str, text: &str) -> Seq {
        let body = serde_json::json!({ "text": text }).to_string();
        let answer = self.post(&format!("/api/v1/conversations/default/{name}/messages"), &body).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text);
        serde_json::from_str::<wire::Accepted>(&answer.text).unwrap().seq
    }

    /// What a refusal says.
    async fn refused(&self, path: &str, body: &str, expected: Expect) {
        let answer = self.post(path, body).await;
        assert_eq!(answer.headers["content-type"], "application/problem+json");
        let problem: wire::Problem = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(problem.status, answer.status.as_u16());
        expected.assert_eq(&format!("{} {}: {}", problem.status, problem.code, problem.detail));
    }
}

/// Reads the messages of an event stream, heartbeats left out.
struct Stream {
    body: hyper::body::Incoming,
    text: String,
}

impl Stream {
    async fn open(api: &Api, path: &str, last: Option<u64>) -> Self {
        let mut request = api.request(Method::GET, path).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = api.send(request.body(Full::default()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        Self { body: response.into_body(), text: String::new() }
    }

    /// The next message as its id and its data; none at the end.
    async fn next(&mut self) -> Option<(Option<u64>, wire::Streamed)> {
        loop {
            if let Some((message, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
                let (id, data) =
                    (field("id:").map(|id| id.parse().unwrap()), field("data:").map(|data| serde_json::from_str(data).unwrap()));
                self.text = rest.to_owned();
                match data {
                    Some(data) => return Some((id, data)),
                    None => continue,
                }
            }
            let frame = tokio::time::timeout(Duration::from_secs(20), self.body.frame()).await.expect("the stream is silent")?.unwrap();
            self.text += std::str::from_utf8(&frame.into_data().unwrap()).unwrap();
        }
    }

    async fn text(&mut self) -> String {
        match self.next().await {
            Some((Some(id), wire::Streamed::Log(event))) => {
                assert_eq!(id, event.seq.0);
                let Body::UserMessage(message) = event.body else { panic!("not a message: {event:?}") };
                format!("{id} {}", message.text)
            }
            other => panic!("not an event of the log: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_conversation_is_made_spoken_to_and_read() {
    let api = Api::start().await;
    let answer = api.post("/api/v1/conversations", r#"{"name":"hello","prompt":"first"}"#).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    assert_eq!(answer.headers["location"], "/api/v1/conversations/default/hello");
    assert_eq!(api.say("hello", "second").await, Seq(2));

    let shown: wire::Conversation = serde_json::from_str(&api.get("/api/v1/conversations/default/hello").await.text).unwrap();
    assert_eq!((shown.title.as_deref(), shown.tail, shown.pending, shown.state.as_str()), (Some("first"), Seq(2), true, "idle"));
    let listed: wire::Conversations = serde_json::from_str(&api.get("/api/v1/conversations?namespace=default").await.text).unwrap();
    assert_eq!(listed.items, [shown]);
    assert_eq!(api.get("/api/v1/conversations?namespace=other").await.text, r#"{"items":[]}"#);

    let page: wire::Page = serde_json::from_str(&api.get("/api/v1/conversations/default/hello/events?after=1").await.text).unwrap();
    assert_eq!((page.events.len(), page.tail), (1, Seq(2)));
    assert_eq!(api.get("/api/v1/conversations/default/hello/events?after=3").await.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn what_is_wrong_is_named_and_changes_nothing() {
    let api = Api::start().await;
    let conversation = api.made("hello").await;
    let all = "/api/v1/conversations";
    let messages = "/api/v1/conversations/default/hello/messages";
    api.refused(all, r#"{"name":"hello"}"#, expect!["409 name-taken: namespace default has a conversation hello already"]).await;
    api.refused(all, r#"{"name":"x","modle":"y"}"#, expect!["422 invalid: the body does not parse at modle: unknown field `modle`, expected one of `namespace`, `name`, `title`, `mode`, `model`, `skills`, `agent`, `prompt` at line 1 column 19"]).await;
    api.refused(all, r#"{"name":"x","model":"gpt"}"#, expect!["422 missing: namespace default has no model gpt"]).await;
    api.refused(all, r#"{"name":"x","agent":"other"}"#, expect!["422 missing: namespace default has no agent other"]).await;
    api.refused(
        all,
        r#"{"name":"A/b"}"#,
        expect![[r#"422 invalid: name: not a name (lower-case letters, digits, - and ., at most 253): "A/b""#]],
    )
    .await;
    api.refused(all, r#"{"name":"x","prompt":" "}"#, expect!["422 empty: the message is empty"]).await;
    api.refused(messages, r#"{"text":""}"#, expect!["422 empty: the message is empty"]).await;
    let binary = r#"{"text":"a\u0000"}"#;
    api.refused(messages, binary, expect!["422 not-text: the message holds a NUL character, at byte 1: it is not text"]).await;
    api.refused(messages, r#"{"text":"a"} {"#, expect!["422 invalid: the body goes on after its JSON ends"]).await;
    api.refused(
        messages,
        r#"{"text":["#,
        expect!["422 invalid: the body does not parse at text: invalid type: sequence, expected a string at line 1 column 8"],
    )
    .await;
    api.refused(
        "/api/v1/conversations/default/nobody/messages",
        r#"{"text":"a"}"#,
        expect![[r#"404 no-conversation: there is no conversation "nobody" in namespace "default""#]],
    )
    .await;
    api.refused("/api/v1/conversations/default/hello/cancel", "{}", expect!["409 idle: no turn runs or waits: there is nothing to stop"])
        .await;
    api.refused("/api/v2", "{}", expect!["404 no-such-path: this API has no such path"]).await;
    let long = format!(r#"{{"text":"{}"}}"#, "a".repeat((256 << 10) + 1));
    api.refused(messages, &long, expect!["413 too-large: the message has 262145 bytes; this conversation takes at most 262144"]).await;
    let huge = format!(r#"{{"text":"{}"}}"#, "a".repeat(8 << 20));
    api.refused(messages, &huge, expect!["413 too-large: the body may have 8388608 bytes"]).await;
    assert_eq!(api.store.conversation_by_id(conversation.id).await.unwrap().unwrap().tail, Seq::ZERO);
    assert_eq!(api.store.conversations(None, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_stream_replays_follows_and_resumes() {
    let api = Api::start().await;
    api.made("hello").await;
    let path = "/api/v1/conversations/default/hello/events";
    for text in ["a", "b", "c"] {
        api.say("hello", text).await;
    }
    let mut first = Stream::open(&api, path, None).await;
    for expected in ["1 a", "2 b", "3 c"] {
        assert_eq!(first.text().await, expected);
    }
    let mut second = Stream::open(&api, path, Some(2)).await;
    assert_eq!(second.text().await, "3 c");
    let conversation = api.store.conversation("default", "hello").await.unwrap().unwrap().id;
    api.hints.publish(Hint::Delta { conversation, text: "li\nve".into() });
    api.hints.publish(Hint::Restart(conversation));
    for stream in [&mut first, &mut second] {
        assert_eq!(stream.next().await.unwrap(), (None, wire::Streamed::Delta("li\nve".into())));
        assert_eq!(stream.next().await.unwrap(), (None, wire::Streamed::Restart));
    }
    api.say("hello", "d").await;
    assert_eq!(first.text().await, "4 d");
    assert_eq!(second.text().await, "4 d");
    api.shutdown.cancel();
    assert_eq!(first.next().await, None);
    api.served.await.unwrap();
}

#[tokio::test]
async fn a_stream_misses_nothing_when_hints_are_lost() {
    let api = Api::start().await;
    let conversation = api.made("hello").await.id;
    let mut stream = Stream::open(&api, "/api/v1/conversations/default/hello/events", None).await;
    // More than a page, and nobody tells of them; then more hints than a listener's queue holds.
    for number in 0..700 {
        let message =
            thetis_core::event::UserMessage { text: number.to_string(), attachments: vec![], source: thetis_core::event::Source::Api };
        api.store.input(conversation, Body::UserMessage(message)).await.unwrap();
    }
    for number in 0..700 {
        assert_eq!(stream.text().await, format!("{} {number}", number + 1));
    }
}

#[tokio::test]
async fn pages_of_other_origins_change_nothing() {
    let api = Api::start().await;
    api.made("hello").await;
    let host = api.address.to_string();
    let path = "/api/v1/conversations/default/hello/messages";
    let send = async |headers: &[(&str, &str)]| {
        let mut request = Request::builder().method(Method::POST).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        api.answer(request.body(Full::from(r#"{"text":"a"}"#)).unwrap()).await
    };
    let json = ("content-type", "application/json");
    let ours = format!("http://{host}");
    assert_eq!(send(&[("host", &host), json, ("origin", &ours), ("sec-fetch-site", "same-origin")]).await.status, StatusCode::ACCEPTED);
    for (headers, expected) in [
        (vec![("host", host.as_str())], StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (vec![("host", &host), ("content-type", "text/plain")], StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (vec![("host", "evil.example"), json], StatusCode::MISDIRECTED_REQUEST),
        (vec![("host", &host), ("host", "evil.example"), json], StatusCode::MISDIRECTED_REQUEST),
        (vec![("host", &host), json, ("origin", "http://evil.example")], StatusCode::FORBIDDEN),
        (vec![("host", &host), json, ("origin", "null")], StatusCode::FORBIDDEN),
        (vec![("host", &host), json, ("sec-fetch-site", "cross-site")], StatusCode::FORBIDDEN),
    ] {
        let answer = send(&headers).await;
        assert_eq!(answer.status, expected, "{headers:?}: {}", answer.text);
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
    }
    assert_eq!(api.store.conversation("default", "hello").await.unwrap().unwrap().tail, Seq(1));
}

#[tokio::test]
async fn a_client_that_goes_away_takes_nothing_back() {
    let api = Api::start().await;
    let conversation = api.made("hello").await.id;
    for _ in 0..20 {
        let request = api.request(Method::POST, "/api/v1/conversations/default/hello/messages").header("content-type", "application/json");
        let request = request.body(Full::from(r#"{"text":"a"}"#)).unwrap();
        // Gone before the answer, at whatever point that is.
        let _ = tokio::time::timeout(Duration::from_micros(300), api.send(request)).await;
    }
    // Whatever was begun is finished: the log has no gap, and another message still goes in.
    let last = api.say("hello", "z").await;
    let log = api.store.read(conversation, super::events::page(Seq::ZERO)).await.unwrap();
    // What the last of them began may end only now.
    assert!(log.len() as u64 >= last.0, "{last}: {log:?}");
    assert!(log.iter().zip(1..).all(|(event, seq)| event.seq.0 == seq), "{log:?}");
}

#[test]
fn names() {
    for name in ["a", "hello", "a-b.c-1", "0", &"a".repeat(63)] {
        assert!(name::is_name(name), "{name}");
    }
    for name in ["", "A", "-a", "a-", ".", "a..b", "a/b", "ä", "a b", "a\0", &"a".repeat(64), &["a"; 128].join(".")] {
        assert!(!name::is_name(name), "{name}");
    }
}
