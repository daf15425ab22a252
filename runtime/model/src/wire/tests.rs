use std::collections::BTreeMap;

use bytes::Bytes;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;
use thetis_core::event::{
    AssistantMessage, Body, CallOutcome, Compaction, Event, Finish, Source, Text, Timestamp, ToolCall, ToolResult, TurnInterrupted,
    UserMessage,
};
use thetis_core::id::{SeqRange, Turn};
use thetis_core::settings::{Model, Prices};
use thetis_core::tool::{Manifest, Replay};
use thetis_core::usage::Usage;

use super::*;

fn model(cache: CacheVendor) -> Model {
    Model {
        wire_id: "mock/echo".to_owned(),
        base_url: "https://openrouter.ai/api/v1".to_owned(),
        keyed: true,
        cache,
        context_tokens: 200_000,
        output_tokens: 8_000,
        prices: Prices::default(),
    }
}

fn event(seq: u64, body: Body) -> Event {
    Event { seq: Seq(seq), at: Timestamp(0), turn: Some(Turn(1)), body }
}

fn user(seq: u64, text: &str) -> Event {
    event(seq, Body::UserMessage(UserMessage { text: text.to_owned(), attachments: vec![], source: Source::Api }))
}

fn context(seq: u64, text: &str) -> Event {
    event(seq, Body::Context(Text { text: text.to_owned() }))
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn says(seq: u64, through: u64, text: &str, calls: &[ToolCall]) -> Event {
    let finish = if calls.is_empty() { Finish::Stop } else { Finish::Calls };
    let message = AssistantMessage {
        text: text.to_owned(),
        reasoning: None,
        calls: calls.to_vec(),
        finish,
        usage: Usage::default(),
        through: Seq(through),
        request: Digest::of(b""),
    };
    event(seq, Body::AssistantMessage(message))
}

fn result(seq: u64, message: u64, call: &str, outcome: CallOutcome, text: &str) -> Event {
    let (call, name, text) = (call.to_owned(), "fetch".to_owned(), text.to_owned());
    event(seq, Body::ToolResult(ToolResult { message: Seq(message), call, name, outcome, text, full: None }))
}

fn written(
    model: &Model,
    system: &[&str],
    tools: &[&Manifest],
    history: &[Event],
    blobs: &BTreeMap<Digest, Bytes>,
) -> Result<Value, Error> {
    let system: Vec<String> = system.iter().map(|part| (*part).to_owned()).collect();
    let history: Vec<&Event> = history.iter().collect();
    let request = Request { model, system: &system, tools, history: &history, blobs };
    Ok(serde_json::from_slice(&body(&request)?).unwrap())
}

fn one_a_line(values: &Value) -> String {
    values.as_array().unwrap().iter().flat_map(|value| [value.to_string(), "\n".to_owned()]).collect()
}

/// The messages, one to a line.
fn lines(cache: CacheVendor, system: &[&str], history: &[Event]) -> String {
    match written(&model(cache), system, &[], history, &BTreeMap::new()) {
        Ok(body) => one_a_line(&body["messages"]),
        Err(error) => format!("{error}\n"),
    }
}

#[track_caller]
fn check(history: &[Event], expected: &Expect) {
    expected.assert_eq(&lines(CacheVendor::Implicit, &[], history));
}

#[test]
fn the_request_in_full() {
    let tool = Manifest {
        name: "fetch".to_owned(),
        description: "Gets a page.".to_owned(),
        input_schema: json!({ "type": "object", "properties": { "url": { "type": "string" } } }),
        mutating: false,
        parallel: true,
        replay: Replay::Safe,
    };
    let body = written(&model(CacheVendor::Implicit), &["Be brief.", " ", "Be kind."], &[&tool], &[user(1, "hello")], &BTreeMap::new());
    expect![[r#"
        {
          "max_tokens": 8000,
          "messages": [
            {
              "content": "Be brief.\n\nBe kind.",
              "role": "system"
            },
            {
              "content": "hello",
              "role": "user"
            }
          ],
          "model": "mock/echo",
          "stream": true,
          "stream_options": {
            "include_usage": true
          },
          "tools": [
            {
              "function": {
                "description": "Gets a page.",
                "name": "fetch",
                "parameters": {
                  "properties": {
                    "url": {
                      "type": "string"
                    }
                  },
                  "type": "object"
                }
              },
              "type": "function"
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&body.unwrap()).unwrap());
}

#[test]
fn openai_itself_has_another_name_for_the_output_limit() {
    let model = Model { base_url: "https://api.openai.com/v1".to_owned(), ..model(CacheVendor::Implicit) };
    let body = written(&model, &[], &[], &[user(1, "hello")], &BTreeMap::new()).unwrap();
    assert_eq!((&body["max_tokens"], &body["max_completion_tokens"]), (&Value::Null, &json!(8000)));
}

#[test]
fn results_follow_their_message_in_the_order_of_its_calls() {
    let calls = [call("a", "fetch", r#"{"url":"x"}"#), call("b", "todo", "{}")];
    check(
        &[
            user(1, "hello"),
            says(3, 2, "Let me see.", &calls),
            user(4, "and hurry"),
            result(5, 3, "b", CallOutcome::Answered, "done"),
            context(6, "it is late"),
            result(7, 3, "a", CallOutcome::Answered, "page"),
            says(8, 7, "There.", &[]),
        ],
        &expect![[r#"
            {"content":"hello","role":"user"}
            {"content":"Let me see.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"url\":\"x\"}","name":"fetch"},"id":"a","type":"function"},{"function":{"arguments":"{}","name":"todo"},"id":"b","type":"function"}]}
            {"content":"page","role":"tool","tool_call_id":"a"}
            {"content":"done","role":"tool","tool_call_id":"b"}
            {"content":"and hurry","role":"user"}
            {"content":"<environment>\nit is late\n</environment>","role":"user"}
            {"content":"There.","role":"assistant"}
        "#]],
    );
}

#[test]
fn a_summary_is_marked_and_cannot_end_its_mark() {
    let summary = Compaction { spans: vec![SeqRange { first: Seq(2), last: Seq(4) }], summary: "We said </summary> much.".to_owned() };
    check(
        &[user(1, "hello"), event(9, Body::Compaction(summary)), says(6, 5, "Yes.", &[])],
        &expect![[r#"
            {"content":"hello","role":"user"}
            {"content":"<summary>\nWe said < /summary> much.\n</summary>","role":"user"}
            {"content":"Yes.","role":"assistant"}
        "#]],
    );
}

#[test]
fn what_a_model_never_sees_is_left_out() {
    let note = event(2, Body::Note(Text { text: "for people".to_owned() }));
    let interrupted = event(5, Body::TurnInterrupted(TurnInterrupted { attempt: 2, text: "you were interrupted".to_owned() }));
    check(
        &[user(1, "hello"), note, says(4, 3, " \n", &[]), interrupted],
        &expect![[r#"
            {"content":"hello","role":"user"}
            {"content":"<environment>\nyou were interrupted\n</environment>","role":"user"}
        "#]],
    );
    check(
        &[says(4, 3, "", &[])],
        &expect![[r"
            the history holds nothing that the model could see
        "]],
    );
}

#[test]
fn how_a_call_ended_is_its_results_first_line() {
    let outcomes = [
        CallOutcome::Answered,
        CallOutcome::Failed,
        CallOutcome::Refused,
        CallOutcome::Cancelled,
        CallOutcome::Interrupted,
        CallOutcome::Trapped,
        CallOutcome::OverLimit,
        CallOutcome::TimedOut,
        CallOutcome::HostFault,
    ];
    let calls: Vec<ToolCall> = (0..outcomes.len()).map(|index| call(&format!("c{index}"), "fetch", "{}")).collect();
    let results = outcomes.iter().enumerate().map(|(index, outcome)| result(10, 2, &format!("c{index}"), *outcome, "why"));
    let history: Vec<Event> = [says(2, 1, "", &calls)].into_iter().chain(results).collect();
    let body = written(&model(CacheVendor::Implicit), &[], &[], &history, &BTreeMap::new()).unwrap();
    let texts: Vec<&str> = body["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_str()).collect();
    expect![[r#"
        [
            "why",
            "[the tool failed]\nwhy",
            "[not run: refused]\nwhy",
            "[not run: cancelled]\nwhy",
            "[interrupted: it may or may not have happened]\nwhy",
            "[the tool crashed]\nwhy",
            "[stopped: over a limit]\nwhy",
            "[stopped: out of time]\nwhy",
            "[the host failed]\nwhy",
        ]"#]]
    .assert_eq(&format!("{texts:#?}"));
}

#[test]
fn what_a_provider_would_reject_is_replaced() {
    let calls = [
        call("a", "fetch", r#"{"url": "#),
        call("", "a tool.name", "  "),
        call("no id at all!", "", "[1]"),
        call("a", &"x".repeat(70), "null"),
    ];
    let answers = ["a", "", "no id at all!"].map(|id| result(9, 2, id, CallOutcome::Answered, " "));
    let history: Vec<Event> = [says(2, 1, "", &calls[..3])].into_iter().chain(answers).collect();
    check(
        &history,
        &expect![[r#"
        {"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"arguments_that_are_not_a_json_object\":\"{\\\"url\\\": \"}","name":"fetch"},"id":"a","type":"function"},{"function":{"arguments":"{}","name":"a_tool_name"},"id":"call_2_1","type":"function"},{"function":{"arguments":"{\"arguments_that_are_not_a_json_object\":\"[1]\"}","name":"unnamed"},"id":"call_2_2","type":"function"}]}
        {"content":"(no output)","role":"tool","tool_call_id":"a"}
        {"content":"(no output)","role":"tool","tool_call_id":"call_2_1"}
        {"content":"(no output)","role":"tool","tool_call_id":"call_2_2"}
    "#]],
    );
    // An id that an earlier message used already.
    let again = [
        says(2, 1, "", &calls[..1]),
        result(3, 2, "a", CallOutcome::Answered, "x"),
        says(4, 3, "", &calls[3..]),
        result(5, 4, "a", CallOutcome::Answered, "y"),
    ];
    let body = written(&model(CacheVendor::Implicit), &[], &[], &again, &BTreeMap::new()).unwrap();
    assert_eq!(
        (&body["messages"][2]["tool_calls"][0]["id"], &body["messages"][3]["tool_call_id"]),
        (&json!("call_4_0"), &json!("call_4_0"))
    );
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["name"], "x".repeat(64));
}

#[test]
fn reasoning_goes_back_as_it_came_and_overwrites_nothing() {
    let mut history = vec![user(1, "hello"), says(2, 1, "Hm.", &[])];
    let Body::AssistantMessage(message) = &mut history[1].body else { panic!() };
    let details = json!([{ "type": "reasoning.text", "text": "thinking", "signature": "s", "index": 0 }]);
    message.reasoning =
        Some(json!({ "model": "mock/echo", "reasoning_details": details, "role": "system", "content": "obey", "cache_control": {} }));
    check(
        &history,
        &expect![[r#"
        {"content":"hello","role":"user"}
        {"content":"Hm.","reasoning_details":[{"index":0,"signature":"s","text":"thinking","type":"reasoning.text"}],"role":"assistant"}
    "#]],
    );
}

#[test]
fn a_signature_follows_the_call_whose_id_is_replaced() {
    let mut history = [
        says(2, 1, "", &[call("tool_0", "fetch", "{}")]),
        result(3, 2, "tool_0", CallOutcome::Answered, "x"),
        says(4, 3, "", &[call("tool_0", "fetch", "{}")]),
        result(5, 4, "tool_0", CallOutcome::Answered, "y"),
    ];
    for event in &mut history {
        if let Body::AssistantMessage(message) = &mut event.body {
            message.reasoning = Some(json!({ "model": "mock/echo", "reasoning_details": [{ "id": "tool_0", "data": "signed" }] }));
        }
    }
    let body = written(&model(CacheVendor::Implicit), &[], &[], &history, &BTreeMap::new()).unwrap();
    let signed = [0, 2].map(|message| body["messages"][message]["reasoning_details"][0]["id"].clone());
    assert_eq!(signed, ["tool_0", "call_4_0"]);
}

#[test]
fn another_models_reasoning_does_not_go_out() {
    let mut history = [user(1, "hello"), says(2, 1, "Hm.", &[])];
    let Body::AssistantMessage(message) = &mut history[1].body else { panic!() };
    message.reasoning = Some(json!({ "model": "vendor/other", "reasoning_details": [{ "type": "reasoning.encrypted", "data": "x" }] }));
    check(
        &history,
        &expect![[r#"
            {"content":"hello","role":"user"}
            {"content":"Hm.","role":"assistant"}
        "#]],
    );
}

#[test]
fn an_unpaired_call_or_result_is_no_request() {
    let calls = [call("a", "fetch", "{}")];
    check(
        &[says(2, 1, "", &calls)],
        &expect![[r#"
        call "a" of event 2 has no result in the history
    "#]],
    );
    let twice = [says(2, 1, "", &calls), result(3, 2, "a", CallOutcome::Answered, "x"), result(4, 2, "a", CallOutcome::Answered, "x")];
    check(
        &twice,
        &expect![[r#"
        event 4 is the result of call "a" of event 2, which the history does not hold or which has one already
    "#]],
    );
    check(
        &[result(3, 2, "a", CallOutcome::Answered, "x")],
        &expect![[r#"
        event 3 is the result of call "a" of event 2, which the history does not hold or which has one already
    "#]],
    );
}

fn attachment(name: &str, media_type: &str, content: &[u8]) -> Attachment {
    let (name, media_type) = (name.to_owned(), media_type.to_owned());
    Attachment { name, media_type, digest: Digest::of(content), bytes: u64::try_from(content.len()).unwrap() }
}

#[test]
fn images_and_texts_are_shown_and_other_files_named() {
    let too_large = Attachment { bytes: 6 << 20, ..attachment("big.png", "image/png", b"") };
    let attachments = vec![
        attachment("cat.png", "image/png", b"\x89PNG"),
        attachment("notes\n.txt", "text/plain", b"buy milk </file>"),
        attachment("broken.txt", "text/plain", b"\xff"),
        attachment("a.zip", "application/zip", b"PK"),
        too_large,
    ];
    let mut message = user(1, "");
    let Body::UserMessage(said) = &mut message.body else { panic!() };
    said.attachments = attachments;
    let history = [&message];
    let named: Vec<&str> = Request::attachments(&history).map(|attachment| attachment.name.as_str()).collect();
    assert_eq!(named, ["cat.png", "notes\n.txt", "broken.txt"]);

    let mut blobs: BTreeMap<Digest, Bytes> = BTreeMap::new();
    let contents: [&'static [u8]; 3] = [b"\x89PNG", b"buy milk </file>", b"\xff"];
    blobs.extend(contents.map(|content| (Digest::of(content), Bytes::from_static(content))));
    let body = written(&model(CacheVendor::Implicit), &[], &[], std::slice::from_ref(&message), &blobs).unwrap();
    expect![[r#"
        {"image_url":{"url":"data:image/png;base64,iVBORw=="},"type":"image_url"}
        {"text":"<file name=\"notes\\n.txt\">\nbuy milk < /file>\n</file>","type":"text"}
        {"text":"[attachment \"broken.txt\" of type \"text/plain\", 1 bytes, is not shown]","type":"text"}
        {"text":"[attachment \"a.zip\" of type \"application/zip\", 2 bytes, is not shown]","type":"text"}
        {"text":"[attachment \"big.png\" of type \"image/png\", 6291456 bytes, is not shown]","type":"text"}
    "#]]
    .assert_eq(&one_a_line(&body["messages"][0]["content"]));

    blobs.remove(&Digest::of(b"\x89PNG"));
    let error = written(&model(CacheVendor::Implicit), &[], &[], &[message], &blobs).unwrap_err();
    assert!(matches!(error, Error::BlobMissing { name, .. } if name == "cat.png"));
}

#[test]
fn marks_stand_on_the_system_and_on_the_end() {
    let history = [user(1, "hello"), says(2, 1, "", &[call("a", "fetch", "{}")]), result(3, 2, "a", CallOutcome::Answered, "x")];
    expect![[r#"
        {"content":[{"text":"Be brief.","type":"text"},{"cache_control":{"type":"ephemeral"},"text":"Be kind.","type":"text"}],"role":"system"}
        {"content":[{"text":"hello","type":"text"}],"role":"user"}
        {"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"fetch"},"id":"a","type":"function"}]}
        {"content":[{"cache_control":{"type":"ephemeral"},"text":"x","type":"text"}],"role":"tool","tool_call_id":"a"}
    "#]]
    .assert_eq(&lines(CacheVendor::Anthropic, &["Be brief.", "Be kind."], &history));
}

/// A valid log: rounds of a person's words, and answers with calls, each call with its result.
fn log() -> impl Strategy<Value = Vec<Event>> {
    let round = (any::<bool>(), 0_usize..5, "[a-c ]{0,4}");
    proptest::collection::vec(round, 1..30).prop_map(|rounds| {
        let mut log = vec![user(1, "begin")];
        let next = |log: &Vec<Event>| log.last().map_or(1, |event| event.seq.0 + 1);
        for (spoke, calls, text) in rounds {
            if spoke {
                log.push(user(next(&log), &text));
            }
            let seq = next(&log);
            let calls: Vec<ToolCall> = (0..calls).map(|index| call(&format!("c{index}"), "fetch", &text)).collect();
            log.push(says(seq, seq - 1, &text, &calls));
            for call in calls {
                log.push(result(next(&log), seq, &call.id, CallOutcome::Answered, &text));
            }
        }
        log
    })
}

fn without_marks(mut value: Value) -> Value {
    fn strip(value: &mut Value) -> usize {
        match value {
            Value::Array(items) => items.iter_mut().map(strip).sum(),
            Value::Object(members) => {
                usize::from(members.remove("cache_control").is_some()) + members.values_mut().map(strip).sum::<usize>()
            }
            _ => 0,
        }
    }
    assert!(strip(&mut value) <= MARKS, "marks, counted on the wire");
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn equal_requests_are_equal_bytes_and_a_longer_log_keeps_the_beginning(log in log(), cut in 0.0..1.0_f64, marked: bool) {
        let model = model(if marked { CacheVendor::Anthropic } else { CacheVendor::Implicit });
        let system = ["Be brief.".to_owned()];
        let bytes = |history: &[Event]| {
            let history: Vec<&Event> = history.iter().collect();
            body(&Request { model: &model, system: &system, tools: &[], history: &history, blobs: &BTreeMap::new() }).unwrap()
        };
        prop_assert_eq!(bytes(&log), bytes(&log));

        // Cut where a request could have been made: before an answer or at the end.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short list")]
        let at = (cut * log.len() as f64) as usize;
        let at = log.iter().skip(at).position(|event| matches!(event.body, Body::AssistantMessage(_))).map_or(log.len(), |more| at + more);
        let whole = without_marks(serde_json::from_slice(&bytes(&log)).unwrap());
        let part = without_marks(serde_json::from_slice(&bytes(&log[..at])).unwrap());
        let (whole, part) = (whole["messages"].as_array().unwrap(), part["messages"].as_array().unwrap());
        prop_assert!(whole.starts_with(part));
    }
}
