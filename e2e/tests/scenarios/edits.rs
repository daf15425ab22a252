//! Edits of the folder of objects while Thetis runs.

use thetis_core::event::TurnStatus;

use crate::machine::{HELLO, Machine, hello};

/// What the model was told in the last request.
async fn told(machine: &Machine) -> String {
    machine.client().say(&hello(), "good day").await.unwrap();
    assert_eq!(machine.settled().await, TurnStatus::Completed);
    machine.model.requests().last().unwrap().body["messages"].to_string()
}

/// Asks until the model is told `text`: an edit is noticed soon, not at once.
async fn told_soon(machine: &Machine, text: &str) {
    for _ in 0..50 {
        if told(machine).await.contains(text) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the model is not told {text:?}");
}

#[tokio::test]
async fn an_edit_holds_from_the_next_turn_on_and_a_mistake_changes_nothing() {
    let machine = Machine::started(HELLO, "{}").await;
    assert!(told(&machine).await.contains("lighthouse keeper"));
    machine.put("objects.yaml", &HELLO.replace("lighthouse keeper", "tugboat captain"));
    told_soon(&machine, "tugboat captain").await;

    // A mistake, then one that is mended: neither takes away what was good.
    machine.put("objects.yaml", &HELLO.replace("instructions: Speak like a lighthouse keeper.", "instrucions: Say nothing."));
    for _ in 0..3 {
        assert!(told(&machine).await.contains("tugboat captain"));
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    machine.put("objects.yaml", &HELLO.replace("lighthouse keeper", "night porter"));
    told_soon(&machine, "night porter").await;

    // A conversation that is declared while Thetis runs begins to work.
    machine
        .put("more.yaml", "{apiVersion: thetis.dev/v1alpha1, kind: Conversation, metadata: {name: later}, spec: {prompt: good morning}}");
    for _ in 0..100 {
        if machine.run(&["tail", "later", "--wait"]).await.status.success() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the conversation is not made");
}
