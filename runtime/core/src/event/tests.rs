use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::usage::Cost;

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter)
}

fn seq() -> impl Strategy<Value = Seq> {
    any::<u64>().prop_map(Seq)
}

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest::from_bytes)
}

fn used() -> impl Strategy<Value = Used> {
    (text(), digest()).prop_map(|(name, digest)| Used { name, digest })
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![Just(Source::Object), Just(Source::Api)]
}

fn usage() -> impl Strategy<Value = Usage> {
    any::<(u32, u64, u64, u64, u64, u64)>().prop_map(|(steps, input, cache_read, cache_write, output, cost)| Usage {
        steps,
        input,
        cache_read,
        cache_write,
        output,
        cost: Cost(cost),
    })
}

fn user_message() -> impl Strategy<Value = Body> {
    let attachment = (text(), text(), digest(), any::<u64>()).prop_map(|(name, media_type, digest, bytes)| Attachment {
        name,
        media_type,
        digest,
        bytes,
    });
    (text(), prop::collection::vec(attachment, 0..3), source())
        .prop_map(|(text, attachments, source)| Body::UserMessage(UserMessage { text, attachments, source }))
}

fn assistant_message() -> impl Strategy<Value = Body> {
    let reasoning =
        prop::option::of((text(), any::<i64>()).prop_map(|(text, n)| serde_json::json!([{ "text": text, "n": n, "none": null }])));
    let call = (text(), text(), text()).prop_map(|(id, name, arguments)| ToolCall { id, name, arguments });
    let finish = prop_oneof![Just(Finish::Stop), Just(Finish::Calls), Just(Finish::Length), Just(Finish::Filtered), Just(Finish::Cut)];
    (text(), reasoning, prop::collection::vec(call, 0..3), finish, usage(), digest(), seq()).prop_map(
        |(text, reasoning, calls, finish, usage, request, through)| {
            Body::AssistantMessage(AssistantMessage { text, reasoning, calls, finish, usage, through, request })
        },
    )
}

fn tool_result() -> impl Strategy<Value = Body> {
    use CallOutcome as O;
    let outcome = prop::sample::select(vec![
        O::Answered,
        O::Failed,
        O::Refused,
        O::Cancelled,
        O::Interrupted,
        O::Trapped,
        O::OverLimit,
        O::TimedOut,
        O::HostFault,
    ]);
    (seq(), text(), text(), outcome, text(), prop::option::of(digest()))
        .prop_map(|(message, call, name, outcome, text, full)| Body::ToolResult(ToolResult { message, call, name, outcome, text, full }))
}

fn turn_end() -> impl Strategy<Value = Body> {
    use TurnStatus as S;
    let status = prop::sample::select(vec![S::Completed, S::Cancelled, S::Rejected, S::Empty, S::Failed]);
    (status, prop::option::of(text()), usage()).prop_map(|(status, reason, usage)| Body::TurnEnd(TurnEnd { status, reason, usage }))
}

fn body() -> impl Strategy<Value = Body> {
    let spans = prop::collection::vec((seq(), seq()).prop_map(|(first, last)| SeqRange { first, last }), 0..3);
    prop_oneof![
        user_message(),
        (digest(), used(), used(), prop::collection::vec(used(), 0..3))
            .prop_map(|(agent, mode, model, skills)| Body::TurnStart(TurnStart { agent, mode, model, skills })),
        assistant_message(),
        tool_result(),
        text().prop_map(|text| Body::Context(Text { text })),
        text().prop_map(|text| Body::Note(Text { text })),
        (spans, text()).prop_map(|(spans, summary)| Body::Compaction(Compaction { spans, summary })),
        (any::<u32>(), text()).prop_map(|(attempt, text)| Body::TurnInterrupted(TurnInterrupted { attempt, text })),
        source().prop_map(|source| Body::CancelRequested(CancelRequested { source })),
        turn_end(),
    ]
}

proptest! {
    #[test]
    fn a_stored_event_reads_back_as_it_was(body in body(), seq in seq(), at in any::<u64>(), turn in prop::option::of(any::<u32>())) {
        let event = Event { seq, at: Timestamp(at), turn: turn.map(Turn), body };
        let read = Event::decode(seq, event.at, event.turn, event.body.kind(), &event.body.encode());
        prop_assert_eq!(read.unwrap(), event);
    }

    /// The two forms of an event, as rows and as one JSON document for the API, say the same.
    #[test]
    fn the_document_holds_the_row(body in body()) {
        let document = serde_json::to_value(&body).unwrap();
        prop_assert_eq!(&document["kind"], body.kind());
        let content: serde_json::Value = serde_json::from_str(&body.encode()).unwrap();
        prop_assert_eq!(&document["body"], &content);
        prop_assert_eq!(serde_json::from_value::<Body>(document).unwrap(), body);
    }

    #[test]
    fn no_text_makes_decoding_panic(kind in text(), body in text()) {
        let _ = Event::decode(Seq(1), Timestamp(0), None, &kind, &body);
        let _ = Event::decode(Seq(1), Timestamp(0), None, "assistant/message", &body);
    }
}

fn refused(kind: &str, body: &str, expected: &Expect) {
    let error = Event::decode(Seq(7), Timestamp(0), None, kind, body).unwrap_err();
    expected.assert_eq(&format!("{error}: {}", error.cause));
}

#[test]
fn what_this_version_does_not_know_is_refused() {
    refused(
        "approval/requested",
        "{}",
        &expect![[r#"event 7 of kind "approval/requested" is not one this version can read: unknown kind"#]],
    );
    refused(
        "note",
        r#"{"text":"a","colour":"red"}"#,
        &expect![[
            r#"event 7 of kind "note" is not one this version can read: unknown field `colour`, expected `text` at line 1 column 20"#
        ]],
    );
    refused(
        "note",
        "{}",
        &expect![[r#"event 7 of kind "note" is not one this version can read: missing field `text` at line 1 column 2"#]],
    );
    refused(
        "cancel/requested",
        r#"{"source":"discord"}"#,
        &expect![[
            r#"event 7 of kind "cancel/requested" is not one this version can read: unknown variant `discord`, expected `object` or `api` at line 1 column 19"#
        ]],
    );
    refused(
        "context",
        r#"{"text":"a"}]"#,
        &expect![[r#"event 7 of kind "context" is not one this version can read: trailing characters at line 1 column 13"#]],
    );
}
