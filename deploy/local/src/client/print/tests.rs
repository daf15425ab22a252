use expect_test::{Expect, expect};
use serde_json::json;
use thetis_core::id::{ConversationId, Seq};
use thetis_core::usage::Cost;

use super::*;

fn check(seq: u64, kind: &str, body: &serde_json::Value, expected: &Expect) {
    let event = json!({ "seq": seq, "at": 0, "turn": null, "kind": kind, "body": body });
    let printed = super::event(&serde_json::from_value(event).unwrap());
    // A margin, because an expectation's common indentation is not part of it.
    expected.assert_eq(&format!("|{}\n", printed.trim_end().replace('\n', "\n|")));
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

#[test]
fn what_people_say() {
    check(
        1,
        "user/message",
        &json!({ "text": "What is 6 × 7?\nAnd why?", "source": "object" }),
        &expect![[r#"
            |   1  user/message        What is 6 × 7?
            |                          And why?
        "#]],
    );
}

#[test]
fn a_turn_begins() {
    let used = |name: &str| json!({ "name": name, "digest": digest(name) });
    let body = json!({ "agent": digest("agent"), "mode": used("agent"), "model": used("default"), "skills": [used("arithmetic")] });
    check(
        2,
        "turn/start",
        &body,
        &expect![[r#"
            |   2  turn/start          agent sha256:d4f0bc5a, mode agent@d4f0bc5a, model default@37a8eec1, skills arithmetic@ca75eaf4
        "#]],
    );
}

#[test]
fn a_message_with_calls() {
    let usage = json!({ "steps": 1, "input": 100, "cache_read": 20, "cache_write": 0, "output": 12, "cost": 1_230_000_000u64 });
    let calls = json!([{ "id": "a", "name": "calculate", "arguments": "{\"expression\":\"6*7\"}" }]);
    let body = json!({ "text": "", "calls": calls, "finish": "calls", "usage": usage, "through": 2, "request": digest("") });
    check(
        3,
        "assistant/message",
        &body,
        &expect![[r#"
            |   3  assistant/message   → calculate {"expression":"6*7"}
            |                          (1 step, 120 tokens in (20 from the cache), 12 out, $0.0012)
        "#]],
    );
}

#[test]
fn what_a_terminal_would_obey_is_shown_by_number() {
    let text = "red \u{1b}[31m\rover\u{9b}2J \u{202e}txet\u{202c}\ttab";
    check(
        4,
        "tool/result",
        &json!({ "message": 3, "call": "a", "name": "evil\u{7}", "outcome": "answered", "text": text }),
        &expect![[r#"
            |   4  tool/result         evil\u{7} answered: red \u{1b}[31m\u{d}over\u{9b}2J \u{202e}txet\u{202c}    tab
        "#]],
    );
}

#[test]
fn a_long_text_is_cut() {
    let text = (1..=100).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
    let event = json!({ "seq": 5, "at": 0, "turn": null, "kind": "note", "body": { "text": text } });
    let printed = super::event(&serde_json::from_value(event).unwrap());
    assert_eq!(printed.lines().count(), LINES + 1);
    assert!(printed.ends_with("… 60 more lines; --output json shows them\n"), "{printed}");
}

#[test]
fn a_turn_ends() {
    check(
        6,
        "turn/end",
        &json!({ "status": "failed", "reason": "no answer", "usage": Usage::default() }),
        &expect![[r#"
            |   6  turn/end            failed: no answer (0 steps, 0 tokens in, 0 out, $0.0000)
        "#]],
    );
}

#[test]
fn conversations() {
    let one = wire::Conversation {
        id: ConversationId(uuid::Uuid::nil()),
        namespace: "default".into(),
        name: "hello".into(),
        title: Some("What is\n6 × 7?".into()),
        state: "idle".into(),
        pending: false,
        mode: "agent".into(),
        model: "mock".into(),
        skills: vec!["arithmetic".into(), "prose".into()],
        agent: "agent".into(),
        tail: Seq(6),
        usage: Usage { steps: 2, input: 300, output: 24, cost: Cost(1_230_000_000), ..Usage::default() },
    };
    let other = wire::Conversation { name: "a-longer-name".into(), title: None, pending: true, ..one.clone() };
    expect![[r"
        NAME            STATE     MODE    MODEL   EVENTS   COST      TITLE
        hello           idle      agent   mock    6        $0.0012   What is 6 × 7?
        a-longer-name   waiting   agent   mock    6        $0.0012
    "]]
    .assert_eq(&table(&[one.clone(), other.clone()], false, false));
    expect![[r"
        NAMESPACE   NAME    STATE   MODE    MODEL   EVENTS   COST      AGENT   SKILLS             IN    OUT   ID                                     TITLE
        default     hello   idle    agent   mock    6        $0.0012   agent   arithmetic,prose   300   24    00000000-0000-0000-0000-000000000000   What is 6 × 7?
    "]]
    .assert_eq(&table(&[one], true, true));
}
