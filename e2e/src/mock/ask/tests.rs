use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

fn with(messages: &Value) -> Result<Ask, Refusal> {
    Ask::read(&json!({ "model": "mock/echo", "messages": messages }))
}

#[track_caller]
fn check(messages: &Value, expected: &Expect) {
    expected.assert_eq(&with(messages).map_or_else(|refusal| format!("{} {}", refusal.status, refusal.message), |_| "accepted".to_owned()));
}

#[track_caller]
fn check_body(body: &Value, expected: &Expect) {
    expected
        .assert_eq(&Ask::read(body).map_or_else(|refusal| format!("{} {}", refusal.status, refusal.message), |_| "accepted".to_owned()));
}

fn call(id: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": "fetch", "arguments": "{}" } })
}

#[test]
fn a_turn_is_understood() {
    let ask = with(&json!([
        { "role": "system", "content": "be brief" },
        { "role": "user", "content": "first" },
        { "role": "assistant", "content": "yes" },
        { "role": "user", "content": [{ "type": "text", "text": "second" }] },
        { "role": "assistant", "content": null, "tool_calls": [call("a")] },
        { "role": "tool", "tool_call_id": "a", "content": "page" },
        { "role": "user", "content": "<environment>\nlate\n</environment>" },
    ]))
    .unwrap();
    assert_eq!((ask.user.as_str(), ask.result.as_str(), ask.last, ask.step), ("second", "page", Last::User, 2));
}

#[test]
fn calls_and_results_are_paired() {
    let user = json!({ "role": "user", "content": "x" });
    let calls = json!({ "role": "assistant", "content": null, "tool_calls": [call("a"), call("b")] });
    let a = json!({ "role": "tool", "tool_call_id": "a", "content": "x" });
    let b = json!({ "role": "tool", "tool_call_id": "b", "content": "x" });
    check(&json!([user, calls, b, a]), &expect!["accepted"]);
    check(&json!([user, calls, a]), &expect![[r#"400 an assistant message with tool_calls must be followed by responses; "b" has none"#]]);
    check(&json!([user, calls, a, user, b]), &expect![[r#"400 messages[3]: tool call "b" of the message before has no response"#]]);
    check(
        &json!([user, a]),
        &expect!["400 messages[1]: messages with role tool must be a response to a preceding message with tool_calls"],
    );
    check(
        &json!([user, calls, a, a]),
        &expect!["400 messages[3]: messages with role tool must be a response to a preceding message with tool_calls"],
    );
    check(&json!([user, calls, a, b, calls, a, b]), &expect!["400 messages[4].tool_calls: tool_use ids must be unique"]);
}

#[test]
fn calls_are_well_formed() {
    let one = |call: Value| json!([{ "role": "user", "content": "x" }, { "role": "assistant", "content": null, "tool_calls": [call] }]);
    let function =
        |name: &str, arguments: &str| json!({ "id": "a", "type": "function", "function": { "name": name, "arguments": arguments } });
    check(&one(function("a tool", "{}")), &expect!["400 messages[1].tool_calls: the function's name must match ^[a-zA-Z0-9_-]{1,64}$"]);
    check(&one(function("fetch", "{\"url\":")), &expect!["400 messages[1].tool_calls: tool_use.input: Input should be a valid dictionary"]);
    check(&one(function("fetch", "[]")), &expect!["400 messages[1].tool_calls: tool_use.input: Input should be a valid dictionary"]);
    check(&one(call("")), &expect!["400 messages[1].tool_calls: type must be function and id must match ^[a-zA-Z0-9_-]{1,64}$"]);
}

#[test]
fn messages_say_something() {
    check(&json!([]), &expect!["400 messages: at least one message is required"]);
    check(&json!([{ "role": "system", "content": "x" }]), &expect!["400 messages: at least one message is required"]);
    check(&json!([{ "role": "user", "content": " " }]), &expect!["400 messages[0].content: must be a non-empty text or list of parts"]);
    check(&json!([{ "role": "user", "content": [] }]), &expect!["400 messages[0].content: must be a non-empty text or list of parts"]);
    check(
        &json!([{ "role": "user", "content": [{ "type": "text", "text": "\n" }] }]),
        &expect!["400 messages[0].content: text content blocks must contain non-whitespace text"],
    );
    check(
        &json!([{ "role": "user", "content": "x" }, { "role": "assistant", "content": "" }]),
        &expect!["400 messages[1].content: must be a non-empty text or list of parts"],
    );
    check(&json!([{ "role": "operator", "content": "x" }]), &expect![[r#"400 messages[0]: unknown role "operator""#]]);
    check(
        &json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw==" } }] }]),
        &expect!["accepted"],
    );
    check(
        &json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:image/png;base64,%%%" } }] }]),
        &expect!["400 messages[0].content: the image is not a data URL of a PNG, JPEG, GIF or WebP"],
    );
    check(
        &json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:image/tiff;base64,iVBORw==" } }] }]),
        &expect!["400 messages[0].content: the image is not a data URL of a PNG, JPEG, GIF or WebP"],
    );
}

#[test]
fn marks_are_counted_on_the_wire() {
    let parts = |count: usize| {
        let part = json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral" } });
        json!([{ "role": "user", "content": vec![part; count] }])
    };
    check(&parts(4), &expect!["accepted"]);
    check(&parts(5), &expect!["400 A maximum of 4 blocks with cache_control may be provided. Found 5."]);
    check(
        &json!([{ "role": "user", "content": "x", "cache_control": { "type": "ephemeral" } }]),
        &expect!["400 messages[0]: cache_control belongs on a content part"],
    );
}

#[test]
fn the_request_around_the_messages() {
    let messages = json!([{ "role": "user", "content": "x" }]);
    let tool = |name: &str, parameters: Value| json!({ "type": "function", "function": { "name": name, "parameters": parameters } });
    let body = |member: &str, value: Value| json!({ "model": "m", "messages": messages, member: value });
    check_body(&json!({ "messages": messages }), &expect!["400 you must provide a model parameter"]);
    check_body(&body("max_token", json!(1)), &expect!["400 Unrecognized request argument supplied: max_token"]);
    check_body(&body("max_tokens", json!(0)), &expect!["400 max_tokens must be a positive integer"]);
    check_body(
        &body("stream_options", json!({ "include_usage": true })),
        &expect!["400 stream_options is only allowed when stream is enabled"],
    );
    check_body(&body("tools", json!([])), &expect!["400 tools must be a non-empty array"]);
    check_body(
        &body("tools", json!([tool("a b", json!({ "type": "object" }))])),
        &expect!["400 tools[0] must be a function whose name matches ^[a-zA-Z0-9_-]{1,64}$"],
    );
    check_body(
        &body("tools", json!([tool("a", json!({}))])),
        &expect!["400 tools[0].function.parameters: input_schema.type must be object"],
    );
    check_body(
        &body("tools", json!([tool("a", json!({ "type": "object" })), tool("a", json!({ "type": "object" }))])),
        &expect!["400 tools: tool names must be unique, a is not"],
    );
    check_body(&body("tools", json!([tool("a", json!({ "type": "object" }))])), &expect!["accepted"]);
    check_body(&json!([]), &expect!["400 the body is not an object"]);
}
