use expect_test::{Expect, expect};

use super::*;
use crate::event::{AssistantMessage, CancelRequested};
use crate::event::{
    Attachment, CallOutcome, Compaction, Finish, Source, Text, Timestamp, ToolCall, ToolResult, TurnInterrupted, UserMessage,
};
use crate::id::Digest;
use crate::usage::Usage;

fn check(body: Body, expected: &Expect) {
    let heading = Heading::of(&Event { seq: Seq(9), at: Timestamp(0), turn: None, body });
    expected.assert_eq(&format!("{:?}, {} bytes, visible: {}", heading.role, heading.bytes, heading.visible()));
}

#[test]
fn an_event_weighs_what_the_model_is_shown_of_it() {
    let file = |media_type: &str| Attachment {
        name: "abc".to_owned(),
        media_type: media_type.to_owned(),
        digest: Digest::of(b""),
        bytes: 1_000_000,
    };
    let user = |attachments| Body::UserMessage(UserMessage { text: "äb".to_owned(), attachments, source: Source::Api });
    check(user(vec![]), &expect!["User, 3 bytes, visible: true"]);
    check(user(vec![file("text/plain")]), &expect!["User, 1000006 bytes, visible: true"]);
    check(user(vec![file("image/png"), file("image/png")]), &expect!["User, 12297 bytes, visible: true"]);
    let call = ToolCall { id: "call_1".to_owned(), name: "read".to_owned(), arguments: "{}".to_owned() };
    let message = AssistantMessage {
        text: "four".to_owned(),
        reasoning: Some(serde_json::json!([1, 2])),
        calls: vec![call.clone(), call],
        finish: Finish::Calls,
        usage: Usage::default(),
        through: Seq(8),
        request: Digest::of(b""),
    };
    check(Body::AssistantMessage(message), &expect!["Message { calls: 2, through: Seq(8) }, 21 bytes, visible: true"]);
    let (call, name, text) = ("call_1".to_owned(), "read".to_owned(), "seven b".to_owned());
    check(
        Body::ToolResult(ToolResult { message: Seq(4), call, name, outcome: CallOutcome::Failed, text, full: None }),
        &expect![[r#"Answer { message: Seq(4), tool: "read" }, 7 bytes, visible: true"#]],
    );
    let text = || Text { text: "12345".to_owned() };
    check(Body::Context(text()), &expect!["Shown, 5 bytes, visible: true"]);
    check(Body::TurnInterrupted(TurnInterrupted { attempt: 2, text: "12345".to_owned() }), &expect!["Shown, 5 bytes, visible: true"]);
    check(Body::Note(text()), &expect!["Hidden, 0 bytes, visible: false"]);
    check(Body::CancelRequested(CancelRequested { source: Source::Api }), &expect!["Hidden, 0 bytes, visible: false"]);
    let spans = vec![SeqRange { first: Seq(3), last: Seq(4) }];
    check(
        Body::Compaction(Compaction { spans, summary: "short".to_owned() }),
        &expect!["Compaction { spans: [SeqRange { first: Seq(3), last: Seq(4) }] }, 5 bytes, visible: false"],
    );
}

#[test]
fn a_part_of_an_outline_is_all_of_it_or_nothing() {
    let heading = |seq| Heading { seq: Seq(seq), turn: None, role: Role::User, bytes: 0 };
    let outline: Vec<Heading> = (1..=3).map(heading).collect();
    let part = |first, last| {
        within(&outline, SeqRange { first: Seq(first), last: Seq(last) }).iter().map(|heading| heading.seq.0).collect::<Vec<_>>()
    };
    assert_eq!(part(1, 3), [1, 2, 3]);
    assert_eq!(part(2, 2), [2]);
    for (first, last) in [(0, 2), (3, 4), (2, 1), (3, 1), (4, 4), (u64::MAX, u64::MAX), (1, u64::MAX), (0, 0)] {
        assert!(part(first, last).is_empty(), "{first}..={last}");
    }
}
