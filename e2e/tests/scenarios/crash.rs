//! Processes that die in the middle: no event is lost, no call is left without a result, and the turn goes on.

use thetis_core::event::{Body, TurnStatus};
use thetis_core::id::Seq;

use crate::machine::{HELLO, Machine, hello};

/// A step with a call, then a step that says so; slow enough to be hit in the middle.
const TWO_STEPS: &str = "
rules:
  - match: { last: user }
    respond: { text: Let me see., calls: [{ name: calculate, arguments: { expression: 6 * 7 } }], first_delay_ms: 150 }
  - match: { last: tool }
    respond: { text: 'It is {result}.', first_delay_ms: 150 }
";

#[tokio::test]
async fn a_turn_whose_process_is_killed_goes_on_after_the_restart() {
    let mut machine = Machine::started(HELLO, TWO_STEPS).await;
    let mut tail = Seq::ZERO;
    // After the message, the turn's start, the model's message and the tool's result.
    for events in 1..=4 {
        machine.client().say(&hello(), "what is 6 * 7?").await.unwrap();
        machine.wait_for(tail, |event| event.seq.0 >= tail.0 + events).await;
        machine.kill().await;
        machine.start().await;
        assert_eq!(machine.settled().await, TurnStatus::Completed);
        let log = machine.log().await;
        let said =
            |event: &&thetis_core::event::Event| matches!(&event.body, Body::AssistantMessage(message) if message.text == "It is 42.");
        assert_eq!(log.iter().filter(|event| event.seq > tail).filter(said).count(), 1, "killed after {events}: {log:#?}");
        tail = log.last().unwrap().seq;
    }
    // It stops as if nothing had been, and what was said is still there.
    assert!(machine.stop().await.success());
    machine.start().await;
    assert_eq!(machine.log().await.last().unwrap().seq, tail);
}

#[tokio::test]
async fn a_turn_goes_on_when_the_database_comes_back() {
    let machine = Machine::started(HELLO, TWO_STEPS).await;
    machine.client().say(&hello(), "what is 6 * 7?").await.unwrap();
    machine.wait_for(Seq::ZERO, |event| matches!(event.body, Body::TurnStart(_))).await;
    machine.kill_postgres();
    assert_eq!(machine.settled().await, TurnStatus::Completed);
    machine.kill_postgres();
    // Input is taken, or refused as a passing trouble; never lost.
    let said = loop {
        match machine.client().say(&hello(), "and again?").await {
            Ok(seq) => break seq,
            Err(error) => assert!(error.may_pass(), "{error:?}"),
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    assert_eq!(machine.settled().await, TurnStatus::Completed);
    let log = machine.log().await;
    assert!(
        matches!(&log.iter().find(|event| event.seq == said).unwrap().body, Body::UserMessage(message) if message.text == "and again?")
    );
}
