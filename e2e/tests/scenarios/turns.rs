//! What the demo shows, and what people do while a turn runs.

use std::time::Duration;

use thetis_core::event::{Body, CallOutcome, TurnStatus};
use thetis_core::id::Seq;

use crate::machine::{HELLO, Machine, hello, kinds};

#[tokio::test]
async fn a_declared_conversation_becomes_an_agent_at_work() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let sample = read("deploy/samples/hello.yaml");
    let model_ends = sample.find("---").unwrap();
    let machine = Machine::started(&sample[model_ends..], &read("e2e/scripts/hello.yaml")).await;

    let printed = machine.run(&["tail", "hello", "--wait"]).await;
    assert!(printed.status.success(), "{printed:?}");
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(text.contains("calculate answered: 31622400"), "{text}");
    assert!(text.contains("A leap year has 31622400 seconds"), "{text}");
    let log = machine.log().await;
    assert_eq!(kinds(&log), ["user/message", "turn/start", "assistant/message", "tool/result", "assistant/message", "turn/end"], "{text}");
    let conversation = machine.client().conversation(&hello()).await.unwrap();
    assert_eq!(conversation.usage.steps, 2);
    assert!(conversation.usage.cost.0 > 0 && conversation.usage.output > 0, "{conversation:?}");
    assert_eq!(conversation.title.as_deref(), Some("How many seconds does a leap year have?"));

    // The same process answers the commands that people use.
    let sent = machine.run(&["send", "hello", "and", "now?", "--wait"]).await;
    assert!(sent.status.success(), "{sent:?}");
    assert!(String::from_utf8_lossy(&sent.stdout).contains("and now?"), "{sent:?}");
    let got = machine.run(&["get"]).await;
    assert!(String::from_utf8_lossy(&got.stdout).contains("hello"), "{got:?}");
    let json = machine.run(&["tail", "hello", "--no-follow", "--output", "json"]).await;
    assert_eq!(String::from_utf8(json.stdout).unwrap().lines().count(), machine.log().await.len());
    let unknown = machine.run(&["send", "nobody", "hello"]).await;
    assert!(!unknown.status.success());
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("--create"), "{unknown:?}");
    let made = machine.run(&["send", "--create", "other", "good", "day", "--wait"]).await;
    assert!(made.status.success(), "{made:?}");
}

#[tokio::test]
async fn a_cancelled_turn_ends_and_the_next_one_runs() {
    let slow = "rules: [{ match: { contains: slowly }, respond: { text: one two three four five, first_delay_ms: 60000 } }]";
    let mut machine = Machine::started(HELLO, slow).await;
    assert_eq!(machine.client().cancel(&hello()).await.unwrap_err().code(), Some("idle"));
    machine.client().say(&hello(), "slowly, please").await.unwrap();
    machine.wait_for(Seq::ZERO, |event| matches!(event.body, Body::TurnStart(_))).await;
    machine.client().cancel(&hello()).await.unwrap();
    assert_eq!(machine.settled().await, TurnStatus::Cancelled);
    machine.client().say(&hello(), "quickly, please").await.unwrap();
    assert_eq!(machine.settled().await, TurnStatus::Completed);
    machine.log().await;
    assert!(machine.stop().await.success());
}

#[tokio::test]
async fn a_process_that_is_asked_to_stop_hands_its_turns_over() {
    let slow = "rules: [{ match: { contains: slowly }, times: 1, respond: { text: late, first_delay_ms: 3000 } }]";
    let mut machine = Machine::started(HELLO, slow).await;
    machine.client().say(&hello(), "slowly, please").await.unwrap();
    machine.wait_for(Seq::ZERO, |event| matches!(event.body, Body::TurnStart(_))).await;
    while machine.model.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(machine.stop().await.success());
    machine.start().await;
    assert_eq!(machine.settled().await, TurnStatus::Completed);
    // A turn that was handed over on purpose was not interrupted, or says so; either way its log is valid.
    machine.log().await;
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_a_result_not_an_end() {
    let script = "rules: [{ match: { last: user }, respond: { calls: [{ name: levitate, arguments: {} }] } }]";
    let machine = Machine::started(HELLO, script).await;
    machine.client().say(&hello(), "up!").await.unwrap();
    assert_eq!(machine.settled().await, TurnStatus::Completed);
    let log = machine.log().await;
    assert!(log.iter().any(|event| matches!(&event.body, Body::ToolResult(result) if result.outcome == CallOutcome::Refused)), "{log:?}");
}
