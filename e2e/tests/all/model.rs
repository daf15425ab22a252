//! The model client against a real HTTP endpoint: every shape that providers send, and everything that goes wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use thetis_core::event::{AssistantMessage, Body, CallOutcome, Event, Finish, Source, Timestamp, ToolResult, UserMessage};
use thetis_core::id::{Digest, Seq};
use thetis_core::key::Key;
use thetis_core::settings::{CacheVendor, Model, Prices};
use thetis_core::tool::{Manifest, Replay};
use thetis_core::usage::Cost;
use thetis_e2e::mock::server::Request as Logged;
use thetis_e2e::mock::{Options, Script, Server};
use thetis_model::client::{Options as ClientOptions, Policy};
use thetis_model::step::Error;
use thetis_model::{Client, Delta, Reply, Request};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// A mock, and a model that is served by it.
struct Bench {
    server: Server,
    client: Client,
    model: Model,
    key: Option<Key>,
}

impl Bench {
    async fn new(script: &str) -> Self {
        Self::with(script, None, ClientOptions::default()).await
    }

    async fn with(script: &str, key: Option<&str>, options: ClientOptions) -> Self {
        let retry = Policy { first_wait: Duration::from_millis(1), ..options.retry };
        Self::of(Client::new(ClientOptions { retry, ..options }).unwrap(), script, key).await
    }

    async fn of(client: Client, script: &str, key: Option<&str>) -> Self {
        let script = Script::parse(script).unwrap();
        let bind = "127.0.0.1:0".parse().unwrap();
        let server = Server::start(script, Options { bind, key: key.map(str::to_owned) }).await.unwrap();
        let model = Model {
            wire_id: "mock/echo".to_owned(),
            base_url: server.base_url(),
            keyed: key.is_some(),
            cache: CacheVendor::Implicit,
            context_tokens: 100_000,
            output_tokens: 1_000,
            prices: Prices { input: 1, cache_read: 1, cache_write: 1, output: 1 },
        };
        Self { server, client, model, key: key.map(|key| Key::new(key).unwrap()) }
    }

    /// One step on `history`: the outcome, and what was shown meanwhile.
    async fn step(&self, history: &[Event]) -> (Result<Reply, Error>, String) {
        self.step_by(history, Instant::now() + 20 * SECOND).await
    }

    async fn step_by(&self, history: &[Event], deadline: Instant) -> (Result<Reply, Error>, String) {
        let tool = Manifest {
            name: "fetch".to_owned(),
            description: "Gets a page.".to_owned(),
            input_schema: serde_json::json!({ "type": "object" }),
            mutating: false,
            parallel: true,
            replay: Replay::Safe,
        };
        let history: Vec<&Event> = history.iter().collect();
        let system = ["Be brief.".to_owned()];
        let request = Request { model: &self.model, system: &system, tools: &[&tool], history: &history, blobs: &BTreeMap::new() };
        let mut shown = Vec::new();
        let outcome = self
            .client
            .step(&request, self.key.as_ref(), deadline, |delta| match delta {
                Delta::Text(text) => shown.push(text.to_owned()),
                Delta::Reasoning(text) => shown.push(format!("({text})")),
                Delta::Call(name) => shown.push(format!("[{name}]")),
                Delta::Restart => shown.push("<restart>".to_owned()),
            })
            .await;
        (outcome, shown.concat())
    }

    async fn says(&self, text: &str) -> (Result<Reply, Error>, String) {
        self.step(&[user(1, text)]).await
    }

    fn statuses(&self) -> Vec<u16> {
        self.server.requests().iter().map(|request| request.status).collect()
    }
}

fn event(seq: u64, body: Body) -> Event {
    Event { seq: Seq(seq), at: Timestamp(0), turn: None, body }
}

fn user(seq: u64, text: &str) -> Event {
    event(seq, Body::UserMessage(UserMessage { text: text.to_owned(), attachments: vec![], source: Source::Api }))
}

fn logged(seq: u64, reply: Reply) -> Event {
    let Reply { text, reasoning, calls, finish, usage } = reply;
    let message = AssistantMessage { text, reasoning, calls, finish, usage, through: Seq(seq - 1), request: Digest::of(b"") };
    event(seq, Body::AssistantMessage(message))
}

fn answered(seq: u64, message: u64, call: &str, text: &str) -> Event {
    let (call, name, text) = (call.to_owned(), "fetch".to_owned(), text.to_owned());
    event(seq, Body::ToolResult(ToolResult { message: Seq(message), call, name, outcome: CallOutcome::Answered, text, full: None }))
}

#[tokio::test]
async fn a_model_that_echoes() {
    let bench = Bench::new("").await;
    let (reply, shown) = bench.says("hello there, wörld").await;
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), shown.as_str(), reply.finish), ("hello there, wörld", "hello there, wörld", Finish::Stop));
    assert!(reply.usage.cost > Cost(0) && reply.usage.input > 0 && reply.usage.output > 0, "{:?}", reply.usage);
    assert_eq!((reply.usage.steps, reply.calls.len()), (1, 0));
    let requests = bench.server.requests();
    assert!(matches!(requests.as_slice(), [Logged { authorization: false, status: 200, rule: None, .. }]), "{requests:?}");
    assert_eq!(requests[0].path, "/v1/chat/completions");
}

#[tokio::test]
async fn every_shape_means_the_same() {
    let client = Client::new(ClientOptions::default()).unwrap();
    for shape in ["openrouter", "openai", "anthropic"] {
        for streams in ["", ", split: 1, chunk: 1", ", split: 5, delay_ms: 1, first_delay_ms: 20, keepalive_ms: 5"] {
            let script = format!(
                "rules:
                  - match: {{ step: 1 }}
                    respond: {{ shape: {shape}, reasoning: hm hm, text: 'Let me see.', calls: [
                      {{ name: fetch, arguments: {{ url: 'x/äöü \"y\"' }} }}, {{ name: fetch }}]{streams} }}
                  - respond: {{ shape: {shape}, text: 'It says {{result}}' {streams} }}"
            );
            let bench = Bench::of(client.clone(), &script, None).await;
            let (reply, shown) = bench.says("look it up").await;
            let reply = reply.unwrap();
            assert_eq!(shown.replace(")(", ""), "(hm hm)Let me see.[fetch][fetch]", "{shape}{streams}");
            assert_eq!((reply.text.as_str(), reply.finish), ("Let me see.", Finish::Calls));
            let arguments: Vec<&str> = reply.calls.iter().map(|call| call.arguments.as_str()).collect();
            assert_eq!(arguments, [r#"{"url":"x/äöü \"y\""}"#, "{}"], "{shape}{streams}");
            assert!(reply.reasoning.is_some());

            // The second request carries all of it back, and the mock refuses what a provider would refuse.
            let ids: Vec<String> = reply.calls.iter().map(|call| call.id.clone()).collect();
            let history = [user(1, "look it up"), logged(2, reply), answered(3, 2, &ids[0], "page"), answered(4, 2, &ids[1], "none")];
            let (reply, _) = bench.step(&history).await;
            let reply = reply.unwrap();
            assert_eq!(reply.text, "It says none");
            assert!(reply.usage.cache_read > 0, "the first request is the second one's prefix");
            assert!(reply.usage.cost > Cost(0), "stated, or counted from the prices: {:?}", reply.usage);
        }
    }
}

#[tokio::test]
async fn reasoning_goes_back_unchanged() {
    let bench =
        Bench::new("rules: [{ match: { step: 1 }, respond: { shape: anthropic, reasoning: deep thought, calls: [{ name: fetch }] } }]")
            .await;
    let reply = bench.says("think").await.0.unwrap();
    let id = reply.calls[0].id.clone();
    bench.step(&[user(1, "think"), logged(2, reply), answered(3, 2, &id, "x")]).await.0.unwrap();
    let sent = bench.server.requests()[1].body["messages"][2]["reasoning_details"].clone();
    let expected = serde_json::json!([{
        "type": "reasoning.text", "text": "deep thought", "signature": "signed-gen-mock-1", "format": "anthropic-claude-v1", "index": 0,
    }]);
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn arguments_that_are_not_json_do_not_spoil_the_conversation() {
    let bench =
        Bench::new(r#"rules: [{ match: { step: 1 }, respond: { calls: [{ name: a tool, id: x y, arguments: '{"url": ' }] } }]"#).await;
    let reply = bench.says("go").await.0.unwrap();
    assert_eq!((reply.calls[0].arguments.as_str(), reply.calls[0].name.as_str()), (r#"{"url": "#, "a tool"));
    let history = [user(1, "go"), logged(2, reply), answered(3, 2, "x y", "not JSON")];
    assert_eq!(bench.step(&history).await.0.unwrap().text, "not JSON");
}

#[tokio::test]
async fn marks_keep_the_cache_warm_over_a_long_conversation() {
    let mut bench =
        Bench::new("rules: [{ match: { contains: go }, respond: { shape: anthropic, calls: [{ name: fetch }, { name: fetch }] } }]").await;
    bench.model.cache = CacheVendor::Anthropic;
    let mut history = vec![user(1, "go")];
    let mut before = 0;
    for step in 0..40 {
        let reply = bench.step(&history).await.0.unwrap();
        let usage = reply.usage;
        assert_eq!(usage.cache_read, before, "step {step} reads everything that the step before it wrote");
        assert!(usage.cache_write > 0 && usage.input < 20, "step {step}: {usage:?}");
        before = usage.cache_read + usage.cache_write;
        let seq = history.last().unwrap().seq.0 + 1;
        let ids: Vec<String> = reply.calls.iter().map(|call| call.id.clone()).collect();
        history.push(logged(seq, reply));
        history.extend((1..).zip(&ids).map(|(more, id)| answered(seq + more, seq, id, "a page of text that takes a few tokens")));
    }
}

#[tokio::test]
async fn the_key_is_sent_where_the_model_wants_one() {
    let bench = Bench::with("", Some("sk-test"), ClientOptions::default()).await;
    assert_eq!(bench.says("hello").await.0.unwrap().text, "hello");
    assert!(bench.server.requests()[0].authorization);

    let wrong = Bench { key: Some(Key::new("sk-other").unwrap()), ..bench };
    let error = wrong.says("hello").await.0.unwrap_err();
    assert!(matches!(error, Error::Unauthorized { status: 401, .. }), "{error}");
    assert!(!format!("{error:?} {error}").contains("sk-"));

    let none = Bench { key: None, ..wrong };
    assert!(matches!(none.says("hello").await.0.unwrap_err(), Error::NoKey));
    assert_eq!(none.statuses(), [200, 401], "nothing is sent without the key");

    let unkeyed = Bench { model: Model { keyed: false, ..none.model.clone() }, key: Some(Key::new("sk-test").unwrap()), ..none };
    assert!(matches!(unkeyed.says("hello").await.0.unwrap_err(), Error::Unauthorized { .. }));
    assert!(!unkeyed.server.requests()[2].authorization, "no header at all for a model that wants no key");
}

#[tokio::test]
async fn a_rate_limit_is_waited_out() {
    let bench = Bench::new(
        "rules: [{ times: 1, fault: { kind: http, status: 429, retry_after: 1 } }, { times: 2, fault: { kind: http, status: 503 } }]",
    )
    .await;
    let began = Instant::now();
    let (reply, shown) = bench.says("hello").await;
    assert_eq!((reply.unwrap().text.as_str(), shown.as_str()), ("hello", "hello"));
    assert_eq!(bench.statuses(), [429, 503, 503, 200]);
    assert!(began.elapsed() >= SECOND, "Retry-After is honoured");
}

#[tokio::test]
async fn attempts_and_patience_end() {
    let bench = Bench::new("rules: [{ fault: { kind: http, status: 529, message: Overloaded } }]").await;
    let error = bench.says("hello").await.0.unwrap_err();
    assert!(matches!(&error, Error::Unavailable { status: 529, message, .. } if message == "Overloaded"), "{error}");
    assert_eq!(bench.statuses(), [529; 4]);

    let bench = Bench::new("rules: [{ fault: { kind: http, status: 429, retry_after: 3600 } }]").await;
    let error = bench.says("hello").await.0.unwrap_err();
    assert!(matches!(error, Error::RateLimited { after: Some(after), .. } if after == 3600 * SECOND), "{error}");
    assert_eq!(bench.statuses(), [429], "an hour is not waited for");
}

#[tokio::test]
async fn a_refusal_is_final_and_says_why() {
    let bench = Bench::new("models: [mock/other]").await;
    let error = bench.says("hello").await.0.unwrap_err();
    assert!(matches!(&error, Error::Refused { status: 400, message } if message.contains("not a valid model ID")), "{error}");
    assert_eq!(bench.statuses(), [400]);

    let bench = Bench::new("rules: [{ fault: { kind: http, status: 402, message: no credits } }]").await;
    assert!(matches!(bench.says("hello").await.0.unwrap_err(), Error::NoCredit { .. }));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Bench::new("").await;
    let location = format!("{}/chat/completions", elsewhere.server.base_url());
    let script = format!("rules: [{{ fault: {{ kind: http, status: 307, location: '{location}' }} }}]");
    let bench = Bench::with(&script, Some("sk-test"), ClientOptions::default()).await;
    let error = bench.says("hello").await.0.unwrap_err();
    assert!(matches!(&error, Error::Redirected { status: 307, location: to } if *to == location), "{error}");
    assert_eq!(elsewhere.statuses(), [0_u16; 0]);
}

#[tokio::test]
async fn a_stream_that_breaks_is_started_over_and_what_was_shown_is_taken_back() {
    for fault in ["cut, after: 2", "malformed, after: 2", "error, after: 2, code: 502, message: Provider disconnected"] {
        let bench = Bench::new(&format!("rules: [{{ times: 1, fault: {{ kind: {fault} }} }}]")).await;
        let (reply, shown) = bench.says("one two three").await;
        assert_eq!((reply.unwrap().text.as_str(), shown.as_str()), ("one two three", "one two<restart>one two three"), "{fault}");
        assert_eq!(bench.statuses(), [200, 200], "{fault}");
    }
}

#[tokio::test]
async fn a_stream_that_keeps_breaking_fails_in_kind() {
    let kind = async |fault: &str| {
        let bench = Bench::new(&format!("rules: [{{ fault: {{ kind: {fault} }} }}]")).await;
        let error = bench.says("one two three").await.0.unwrap_err();
        (error, bench.statuses().len())
    };
    assert!(matches!(kind("cut, after: 1").await, (Error::Cut(_), 4)));
    assert!(matches!(kind("malformed, after: 1").await, (Error::Malformed { .. }, 4)));
    assert!(matches!(kind("error, after: 1, code: 502, message: x").await, (Error::Unavailable { status: 502, .. }, 4)));
    assert!(matches!(kind("error, after: 1, code: 400, message: x").await, (Error::Refused { status: 400, .. }, 1)));
}

#[tokio::test]
async fn a_reply_that_is_whole_is_never_asked_for_twice() {
    // Events of the echo: a word, the reason to end, the bill, the end.
    for (fault, after) in [("cut", 2), ("malformed", 2), ("cut", 3)] {
        let bench = Bench::new(&format!("rules: [{{ fault: {{ kind: {fault}, after: {after} }} }}]")).await;
        let reply = bench.says("hello").await.0.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage.steps, bench.statuses().len()), ("hello", 1, 1), "{fault} {after}");
    }
}

#[tokio::test]
async fn silence_is_not_waited_for() {
    let quick = ClientOptions {
        silence: Duration::from_millis(100),
        retry: Policy { attempts: 2, ..Policy::default() },
        ..ClientOptions::default()
    };
    for fault in ["silent", "stall, after: 1"] {
        let bench = Bench::with(&format!("rules: [{{ fault: {{ kind: {fault} }} }}]"), None, quick).await;
        let error = bench.says("one two").await.0.unwrap_err();
        assert!(matches!(error, Error::Stalled(_)), "{fault}: {error}");
        assert_eq!(bench.statuses().len(), 2);
    }
    // Comments are not silence.
    let bench = Bench::with("rules: [{ respond: { text: hi, first_delay_ms: 400, keepalive_ms: 20 } }]", None, quick).await;
    assert_eq!(bench.says("x").await.0.unwrap().text, "hi");
}

#[tokio::test]
async fn the_deadline_is_the_end() {
    let bench = Bench::new("rules: [{ fault: { kind: stall, after: 1 } }]").await;
    let (outcome, shown) = bench.step_by(&[user(1, "one two")], Instant::now() + Duration::from_millis(200)).await;
    assert!(matches!(outcome, Err(Error::Deadline)));
    assert_eq!((shown.as_str(), bench.statuses().len()), ("one", 1));

    let bench = Bench::new("rules: [{ fault: { kind: http, status: 429, retry_after: 30 } }]").await;
    let (outcome, _) = bench.step_by(&[user(1, "x")], Instant::now() + SECOND).await;
    assert!(matches!(outcome, Err(Error::RateLimited { .. })), "a wait that would end too late is not begun");
}

#[tokio::test]
async fn a_step_can_be_dropped_at_any_time() {
    let bench = Bench::new("rules: [{ respond: { text: a b c d e f g h i j, delay_ms: 50 } }]").await;
    let cancelled = tokio::time::timeout(Duration::from_millis(120), bench.says("x")).await;
    assert!(cancelled.is_err());
    // The client is as good as before.
    let bench = Bench::of(bench.client, "", None).await;
    assert_eq!(bench.says("hello").await.0.unwrap().text, "hello");
}

#[tokio::test]
async fn nobody_there() {
    let mut bench = Bench::new("").await;
    bench.model.base_url = "http://127.0.0.1:1/v1".to_owned();
    let error = bench.says("hello").await.0.unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)) && error.is_transient(), "{error}");
    for base_url in ["", "openrouter.ai/api/v1", "ftp://127.0.0.1/v1", "http://"] {
        bench.model.base_url = base_url.to_owned();
        let error = bench.says("hello").await.0.unwrap_err();
        assert!(matches!(error, Error::Address { .. }) && !error.is_transient(), "{base_url}: {error}");
    }
    bench.model.base_url = bench.server.base_url().replace("/v1", "/nothing");
    assert!(matches!(bench.says("hello").await.0.unwrap_err(), Error::Refused { status: 404, .. }));
}

#[tokio::test]
async fn a_trailing_slash_is_no_other_address() {
    let mut bench = Bench::new("").await;
    bench.model.base_url = format!("{}/", bench.server.base_url().replace("/v1", "/api/v1"));
    assert_eq!(bench.says("hello").await.0.unwrap().text, "hello");
    assert_eq!(bench.server.requests()[0].path, "/api/v1/chat/completions");
}

#[tokio::test]
async fn many_steps_at_once_do_not_mix() {
    let bench = Bench::new("rules: [{ respond: { text: '{user}', chunk: 3, delay_ms: 1 } }]").await;
    let texts: Vec<String> = (0..50).map(|number| format!("conversation {number} says {}", "x".repeat(number))).collect();
    let replies = futures::future::join_all(texts.iter().map(|text| bench.says(text))).await;
    for (text, (reply, shown)) in texts.iter().zip(replies) {
        assert_eq!((&reply.unwrap().text, &shown), (text, text));
    }
}
