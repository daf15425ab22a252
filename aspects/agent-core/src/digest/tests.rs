//! What a summary keeps of what was done, and how long it gets.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use thetis_core::event::{Compaction, Finish, Timestamp, ToolCall, ToolResult, TurnInterrupted};
use thetis_core::id::{Digest as Sha256, Seq};
use thetis_core::usage::Usage;

use super::*;

const MOST: usize = 16 << 10;

fn event(body: Body) -> Event {
    Event { seq: Seq(1), at: Timestamp(0), turn: None, body }
}

fn message(text: &str, calls: &[(&str, &str, &str)]) -> Event {
    let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    event(Body::AssistantMessage(AssistantMessage {
        text: text.to_owned(),
        reasoning: None,
        calls: calls.iter().map(call).collect(),
        finish: Finish::Calls,
        usage: Usage::default(),
        through: Seq(1),
        request: Sha256::of(b""),
    }))
}

fn result(call: &str, outcome: CallOutcome, text: &str) -> Event {
    let (call, name, text) = (call.to_owned(), "Bash".to_owned(), text.to_owned());
    event(Body::ToolResult(ToolResult { message: Seq(1), call, name, outcome, text, full: None }))
}

fn digest(events: &[Event]) -> String {
    let mut digest = Digest::default();
    for event in events {
        digest.add(event);
    }
    digest.text(MOST)
}

fn check(events: &[Event], expected: &Expect) {
    expected.assert_eq(&digest(events));
}

#[test]
fn a_line_for_each_thing_done() {
    let events = [
        message("I look\n at it.", &[("a", "Bash", r#"{"command":"ls"}"#), ("b", "Bash", "{}")]),
        result("a", CallOutcome::Answered, "one\ntwo"),
        result("b", CallOutcome::TimedOut, "no end in 300 s"),
        event(Body::TurnInterrupted(TurnInterrupted { attempt: 2, text: "…".to_owned() })),
        message("", &[]),
    ];
    check(
        &events,
        &expect![[r#"
        What you did earlier, cut from the log; what people said stands in full around it:
        - You said: I look at it.
        - Bash({"command":"ls"}) → one two
        - Bash({}) → timed out: no end in 300 s
        - (interrupted, then went on)"#]],
    );
}

#[test]
fn an_earlier_summary_is_carried_on() {
    let earlier = digest(&[message("First.", &[])]);
    let events = [event(Body::Compaction(Compaction { spans: vec![], summary: earlier })), message("Second.", &[])];
    check(
        &events,
        &expect![[r"
        What you did earlier, cut from the log; what people said stands in full around it:
        - You said: First.
        - You said: Second."]],
    );
}

#[test]
fn ids_of_an_earlier_message_do_not_catch_a_later_result() {
    let events = [
        message("", &[("a", "Read", "{}")]),
        result("a", CallOutcome::Answered, "1"),
        message("", &[("a", "Bash", "{}")]),
        result("a", CallOutcome::Failed, "2"),
    ];
    check(
        &events,
        &expect![[r"
        What you did earlier, cut from the log; what people said stands in full around it:
        - Read({}) → 1
        - Bash({}) → failed: 2"]],
    );
}

#[test]
fn too_much_loses_its_middle() {
    let events = (0..1000).map(|n| message(&format!("{n} {}", "é".repeat(100)), &[])).collect::<Vec<_>>();
    let text = digest(&events);
    assert!(text.len() <= MOST + 300, "{}", text.len());
    for said in ["said: 0 ", "said: 15 ", "(more was done here", "said: 999 "] {
        assert!(text.contains(said), "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// However long what was said, and however often digested: bounded, never blank, and it never panics.
    #[test]
    fn bounded(texts in prop::collection::vec(("\\PC{0,8}", 0..200_usize), 0..20)) {
        let texts = texts.into_iter().map(|(text, times)| text.repeat(times));
        let events = texts.map(|text| message(&text, &[("a", &text, &text)])).collect::<Vec<_>>();
        let once = digest(&events);
        let again = [&[event(Body::Compaction(Compaction { spans: vec![], summary: once }))], &events[..]].concat();
        prop_assert!(digest(&again).len() <= MOST + 300);
    }
}
