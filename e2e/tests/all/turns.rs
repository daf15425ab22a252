//! Turns from input to end: a real log, the real agent and tools, the model over HTTP.

use std::time::Duration;

use thetis_core::event::{Body, CallOutcome, CancelRequested, Event, Finish, Source, TurnStatus};
use thetis_core::settings::{AspectKind, Grants};
use thetis_e2e::mock::Script;
use thetis_e2e::rig::{Options, Rig};
use thetis_runtime::artifact::Compiler;
use thetis_runtime::worker;

pub async fn rig(script: &str) -> Rig {
    let compiler = Compiler::new(env!("CARGO_BIN_EXE_bench").into(), vec!["compile".into()]);
    let cache = env!("CARGO_TARGET_TMPDIR").into();
    Rig::start(Options { script: Script::parse(script).unwrap(), compiler, cache, database: None }).await.unwrap()
}

async fn at_work(script: &str) -> Rig {
    let mut rig = rig(script).await;
    rig.work(quick());
    rig
}

/// A lease that runs out, and a sweep that comes, while a test waits.
fn quick() -> worker::Options {
    let (lease, sweep) = (Duration::from_secs(1), Duration::from_millis(200));
    worker::Options { lease, sweep, ..worker::Options::new(uuid::Uuid::new_v4().to_string()) }
}

/// One line for each event.
fn story(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| match &event.body {
            Body::UserMessage(message) => format!("user: {}", message.text),
            Body::AssistantMessage(message) if message.calls.is_empty() => format!("model: {}", message.text),
            Body::AssistantMessage(message) => {
                format!("model calls {}", message.calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>().join(", "))
            }
            Body::ToolResult(result) => format!("{} {:?}: {}", result.name, result.outcome, result.text),
            Body::TurnEnd(end) => {
                format!("end {:?}{}", end.status, end.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default())
            }
            other => other.kind().to_owned(),
        })
        .collect()
}

const SUM: &str = r#"
rules:
  - match: { last: user }
    respond: { text: "Let me see.", calls: [{ name: calculate, arguments: { expression: "6*7" } }], split: 3 }
  - match: { last: tool }
    respond: { text: "It is {result}." }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn turn_with_a_tool_call() {
    let rig = at_work(SUM).await;
    let conversation = rig.ask("What is six times seven?").await.unwrap();
    let (events, end) = rig.ended(conversation, 1).await.unwrap();
    expect_test::expect![[r#"
        [
            "user: What is six times seven?",
            "turn/start",
            "model calls calculate",
            "calculate Answered: 42",
            "model: It is 42.",
            "end Completed",
        ]"#]]
    .assert_eq(&format!("{:#?}", story(&events)));
    assert_eq!(end.usage.steps, 2);
    assert!(end.usage.cost.0 > 0, "{:?}", end.usage);
    let row = rig.store.conversation_by_id(conversation).await.unwrap().unwrap();
    assert_eq!((row.usage, row.attempts, row.owner), (end.usage, 0, None));
    assert_eq!(row.title.as_deref(), Some("What is six times seven?"));
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_refuses_what_the_mode_withholds() {
    let script = r#"
rules:
  - match: { last: user }
    respond: { calls: [{ name: counter, arguments: { url: "http://127.0.0.1:1/" } }, { name: nothing }, { name: calculate, arguments: "[1" }] }
"#;
    let rig = at_work(script).await;
    let egress = Grants { egress: vec!["127.0.0.1:1".to_owned()], ..Grants::default() };
    rig.register(&AspectKind::Tool, "counter", "fixture-counter", egress).await.unwrap();
    let conversation = rig.ask_in("plan", "Count something.").await.unwrap();
    let (events, _) = rig.ended(conversation, 1).await.unwrap();
    let outcomes: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolResult(result) => Some((result.name.as_str(), result.outcome)),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, [("counter", CallOutcome::Refused), ("nothing", CallOutcome::Refused), ("calculate", CallOutcome::Refused)]);
    let offered = &rig.mock.requests()[0].body["tools"];
    assert!(!offered.to_string().contains("\"counter\""), "{offered}");
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_hears_what_is_said_while_it_runs() {
    let script = r#"
rules:
  - match: { contains: first }
    respond: { text: "one two three four five six", delay_ms: 100 }
"#;
    let rig = at_work(script).await;
    let conversation = rig.ask("first").await.unwrap();
    while rig.mock.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    rig.say(conversation, "second").await.unwrap();
    let (events, end) = rig.ended(conversation, 1).await.unwrap();
    assert_eq!(end.status, TurnStatus::Completed);
    assert_eq!(story(&events).last().map(String::as_str), Some("end Completed"), "{:#?}", story(&events));
    let seen = rig.mock.requests().last().unwrap().body["messages"].to_string();
    let (answer, nudge) = (seen.find("four five six").unwrap(), seen.find("second").unwrap());
    assert!(answer < nudge, "what came while the model spoke follows what it said: {seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_stops_when_asked_and_keeps_what_was_said() {
    let script = r#"
rules:
  - respond: { text: "one two three four five six seven eight nine ten", delay_ms: 200 }
"#;
    let rig = at_work(script).await;
    let conversation = rig.ask("count").await.unwrap();
    let mut watch = rig.hints.watch(conversation);
    while !matches!(watch.next().await, Ok(thetis_store::Hint::Delta { .. })) {}
    rig.stop(conversation).await.unwrap();
    let (events, end) = rig.ended(conversation, 1).await.unwrap();
    assert_eq!(end.status, TurnStatus::Cancelled);
    let said = events.iter().find_map(|event| match &event.body {
        Body::AssistantMessage(message) => Some(message),
        _ => None,
    });
    let said = said.expect("what was said by then");
    assert!(said.finish == Finish::Cut && said.text.starts_with("one") && !said.text.contains("ten"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_stops_when_asked_although_the_hint_was_lost() {
    let rig = at_work("rules: [{ respond: { text: \"never heard\", first_delay_ms: 60000 } }]").await;
    let conversation = rig.ask("count").await.unwrap();
    while rig.mock.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let stop = Body::CancelRequested(CancelRequested { source: Source::Api });
    rig.store.input(conversation, stop).await.unwrap();
    let (_, end) = rig.ended(conversation, 1).await.unwrap();
    assert_eq!(end.status, TurnStatus::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_goes_on_after_its_process_was_killed() {
    let script = r#"
rules:
  - match: { last: user, step: 1 }
    respond: { calls: [{ name: calculate, arguments: { expression: "1+1" } }] }
  - match: { last: tool }
    times: 1
    respond: { text: "never heard", first_delay_ms: 60000 }
"#;
    let mut rig = at_work(script).await;
    let conversation = rig.ask("go").await.unwrap();
    while rig.mock.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    rig.kill().await;
    rig.work(quick());
    let (events, end) = rig.ended(conversation, 1).await.unwrap();
    assert_eq!(end.status, TurnStatus::Completed);
    let story = story(&events);
    assert!(story.contains(&"turn/interrupted".to_owned()), "{story:#?}");
    assert_eq!(story.iter().filter(|line| line.starts_with("calculate")).count(), 1, "{story:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_is_handed_over_without_a_word() {
    let script = r#"
rules:
  - match: { last: user, step: 1 }
    respond: { calls: [{ name: calculate, arguments: { expression: "1+1" } }], first_delay_ms: 500 }
"#;
    let mut rig = at_work(script).await;
    let conversation = rig.ask("go").await.unwrap();
    while rig.mock.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    rig.rest().await;
    assert!(rig.log(conversation).await.unwrap().1.current().is_some());
    rig.work(quick());
    let (events, end) = rig.ended(conversation, 1).await.unwrap();
    assert_eq!(end.status, TurnStatus::Completed);
    assert!(!story(&events).contains(&"turn/interrupted".to_owned()), "{:#?}", story(&events));
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_that_keeps_dying_is_given_up() {
    let script = "rules: [{ respond: { text: \"never heard\", first_delay_ms: 60000 } }]";
    let mut rig = rig(script).await;
    let conversation = rig.ask("go").await.unwrap();
    for attempt in 1..=3 {
        rig.work(quick());
        while rig.mock.requests().len() < attempt {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        rig.kill().await;
    }
    rig.work(quick());
    let (_, end) = rig.ended(conversation, 1).await.unwrap();
    assert_eq!((end.status, end.reason.as_deref()), (TurnStatus::Failed, Some(thetis_core::repair::GIVEN_UP)));
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_with_a_bad_model_fails_with_the_reason_and_the_next_one_works() {
    let script = r#"
rules:
  - match: { contains: bad }
    fault: { kind: http, status: 400, message: "no such parameter" }
"#;
    let rig = at_work(script).await;
    let conversation = rig.ask("bad").await.unwrap();
    let (_, end) = rig.ended(conversation, 1).await.unwrap();
    assert_eq!(end.status, TurnStatus::Failed);
    assert!(end.reason.as_deref().is_some_and(|reason| reason.contains("no such parameter")), "{end:?}");
    rig.say(conversation, "good").await.unwrap();
    let (_, end) = rig.ended(conversation, 2).await.unwrap();
    assert_eq!(end.status, TurnStatus::Completed);
}
