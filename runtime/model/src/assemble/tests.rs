use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

const PRICES: Prices = Prices { input: 3_000_000, cache_read: 300_000, cache_write: 3_750_000, output: 15_000_000 };

fn assemble(events: &[Value]) -> (String, Result<Option<Reply>, Error>) {
    let mut assembler = Assembler::default();
    let mut deltas = Vec::new();
    for event in events {
        let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
        let taken = assembler.event(data.as_bytes(), &mut |delta| deltas.push(format!("{delta:?}")));
        if let Err(error) = taken {
            return (deltas.join(" "), Err(error));
        }
    }
    (deltas.join(" "), Ok(assembler.reply("m", &PRICES)))
}

#[track_caller]
fn check(events: &[Value], expected: &Expect) {
    let (deltas, outcome) = assemble(events);
    let outcome = match outcome {
        Ok(Some(reply)) => {
            let calls: Vec<String> = reply.calls.iter().map(|call| format!("\n  {} {} {}", call.id, call.name, call.arguments)).collect();
            let reasoning = reply.reasoning.map(|reasoning| format!("\n  {reasoning}")).unwrap_or_default();
            format!("{:?} {:?}{}{reasoning}", reply.text, reply.finish, calls.concat())
        }
        Ok(None) => "not whole".to_owned(),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&format!("{deltas}\n{outcome}"));
}

fn delta(delta: &Value) -> Value {
    json!({ "id": "x", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn end(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn call(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    delta(
        &json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": arguments } }] }),
    )
}

#[test]
fn text_in_pieces() {
    check(
        &[
            delta(&json!({ "role": "assistant", "content": "" })),
            delta(&json!({ "content": "Hel" })),
            delta(&json!({ "content": null })),
            delta(&json!({ "content": "lo", "unknown": [1] })),
            end("stop"),
            "[DONE]".into(),
        ],
        &expect![[r#"
            Text("Hel") Text("lo")
            "Hello" Stop"#]],
    );
}

#[test]
fn a_call_whose_arguments_are_split() {
    check(
        &[
            call(Some(0), Some("call_a"), Some("fetch"), ""),
            call(Some(0), None, None, "{\"url\":"),
            call(Some(0), None, None, "\"x\"}"),
            end("tool_calls"),
        ],
        &expect![[r#"
            Call("fetch")
            "" Calls
              call_a fetch {"url":"x"}"#]],
    );
}

#[test]
fn calls_whose_pieces_are_mixed_up_come_in_the_order_of_their_index() {
    check(
        &[
            call(Some(7), Some("b"), Some("two"), "{"),
            call(Some(1), Some("a"), Some("one"), "{\"n\":"),
            call(Some(7), None, None, "}"),
            call(Some(1), None, None, "1}"),
            end("tool_calls"),
        ],
        &expect![[r#"
            Call("two") Call("one")
            "" Calls
              a one {"n":1}
              b two {}"#]],
    );
}

#[test]
fn ids_that_are_missing_repeated_or_used_twice() {
    check(
        &[
            call(Some(0), None, Some("one"), "{}"),
            call(Some(1), Some("same"), Some("two"), "{"),
            call(Some(1), Some("same"), Some("two"), "}"),
            call(Some(2), Some("same"), Some("three"), "{}"),
            call(Some(3), Some(&"x".repeat(300)), Some("four"), "{}"),
            end("stop"),
        ],
        &expect![[r#"
            Call("one") Call("two") Call("three") Call("four")
            "" Calls
              call_0 one {}
              same two {}
              same_again three {}
              call_3 four {}"#]],
    );
}

#[test]
fn whole_calls_that_all_say_index_zero_or_none_at_all() {
    check(
        &[call(Some(0), Some("a"), Some("one"), "{}"), call(Some(0), Some("b"), Some("two"), "{}"), end("tool_calls")],
        &expect![[r#"
            Call("one") Call("two")
            "" Calls
              a one {}
              b two {}"#]],
    );
    check(
        &[
            call(None, Some("a"), Some("one"), "{"),
            call(None, None, None, "}"),
            call(None, Some("b"), Some("two"), "{}"),
            end("tool_calls"),
        ],
        &expect![[r#"
            Call("one") Call("two")
            "" Calls
              a one {}
              b two {}"#]],
    );
}

#[test]
fn arguments_that_a_server_forgot_to_quote() {
    let calls = json!({ "tool_calls": [{ "id": "a", "function": { "name": "fetch", "arguments": { "url": "x" } } }] });
    check(
        &[delta(&calls), end("tool_calls")],
        &expect![[r#"
            Call("fetch")
            "" Calls
              a fetch {"url":"x"}"#]],
    );
}

#[test]
fn the_reason_to_end_fits_the_calls() {
    let one = || call(Some(0), Some("a"), Some("fetch"), "{\"u");
    check(
        &[one(), end("length")],
        &expect![[r#"
            Call("fetch")
            "" Calls
              a fetch {"u"#]],
    );
    check(
        &[one(), end("content_filter")],
        &expect![[r#"
            Call("fetch")
            "" Filtered"#]],
    );
    check(
        &[end("tool_calls")],
        &expect![[r#"

            "" Stop"#]],
    );
    check(
        &[end("max_tokens")],
        &expect![[r#"

            "" Length"#]],
    );
    check(
        &[delta(&json!({ "content": "Hel" })), "[DONE]".into()],
        &expect![[r#"
            Text("Hel")
            not whole"#]],
    );
}

#[test]
fn reasoning_blocks_are_joined_and_signed() {
    let detail = |detail: Value| delta(&json!({ "reasoning_details": [detail] }));
    check(
        &[
            delta(
                &json!({ "reasoning": "I ", "reasoning_details": [{ "type": "reasoning.text", "text": "I ", "format": "f", "index": 0 }] }),
            ),
            delta(
                &json!({ "reasoning": "think", "reasoning_details": [{ "type": "reasoning.text", "text": "think", "format": "f", "index": 0 }] }),
            ),
            detail(json!({ "type": "reasoning.text", "signature": "sig", "format": "f", "index": 0 })),
            detail(json!({ "type": "reasoning.encrypted", "data": "ab", "id": "one", "index": 1 })),
            detail(json!({ "type": "reasoning.encrypted", "data": "cd", "id": "two", "index": 1 })),
            end("stop"),
        ],
        &expect![[r#"
            Reasoning("I ") Reasoning("think")
            "" Stop
              {"model":"m","reasoning_details":[{"format":"f","index":0,"signature":"sig","text":"I think","type":"reasoning.text"},{"data":"ab","id":"one","index":1,"type":"reasoning.encrypted"},{"data":"cd","id":"two","index":1,"type":"reasoning.encrypted"}]}"#]],
    );
}

#[test]
fn plain_reasoning_keeps_its_name() {
    check(
        &[delta(&json!({ "reasoning_content": "I " })), delta(&json!({ "reasoning_content": "think" })), end("stop")],
        &expect![[r#"
            Reasoning("I ") Reasoning("think")
            "" Stop
              {"model":"m","reasoning_content":"I think"}"#]],
    );
}

#[test]
fn a_completion_that_was_not_streamed() {
    check(
        &[json!({
            "object": "chat.completion",
            "choices": [{
                "index": 0,
                "finish_reason": "tool_calls",
                "message": { "role": "assistant", "content": [{ "type": "text", "text": "Hm" }, { "type": "thinking" }], "tool_calls": [
                    { "id": "a", "type": "function", "function": { "name": "one", "arguments": "{}" } },
                    { "id": "b", "type": "function", "function": { "name": "two", "arguments": "{}" } },
                ] },
            }],
        })],
        &expect![[r#"
            Text("Hm") Call("one") Call("two")
            "Hm" Calls
              a one {}
              b two {}"#]],
    );
}

#[test]
fn errors_inside_a_stream() {
    check(
        &[
            delta(&json!({ "content": "Hel" })),
            json!({ "error": { "code": 502, "message": "Provider disconnected" }, "choices": [{ "index": 0, "delta": { "content": "" }, "finish_reason": "error" }] }),
        ],
        &expect![[r#"
            Text("Hel")
            the model endpoint fails (502): "Provider disconnected"; try again later or choose another Model"#]],
    );
    check(
        &[end("error")],
        &expect![[r#"

            the model endpoint fails (0): "the provider ended the reply with an error"; try again later or choose another Model"#]],
    );
    check(
        &[r#"{"choices":[{"delta":"#.into()],
        &expect![[r#"

            the model endpoint sent a broken stream (EOF while parsing a value at line 1 column 21 in "{\"choices\":[{\"delta\":"): try again later or choose another Model"#]],
    );
}

#[test]
fn what_does_not_matter_is_ignored() {
    check(
        &[json!({}), json!({ "choices": null }), json!({ "choices": [{ "index": 1, "delta": { "content": "no" } }] }), end("stop")],
        &expect![[r#"

            "" Stop"#]],
    );
}

#[test]
fn hostile_sizes_are_bounded() {
    let third = "x".repeat(REPLY_BYTES / 3);
    let big = Value::from(format!(r#"{{"choices":[{{"delta":{{"content":"{third}"}}}}]}}"#));
    assert!(matches!(assemble(&[big.clone(), big.clone(), big.clone(), big]).1, Err(Error::TooLarge { .. })));
    let calls: Vec<Value> = (0..200).map(|index| call(Some(index), Some("a"), Some("fetch"), "")).collect();
    assert!(matches!(assemble(&calls).1, Err(Error::TooLarge { .. })));
    let thought = Value::from(format!(r#"{{"choices":[{{"delta":{{"reasoning_details":[{{"data":"{third}"}}]}}}}]}}"#));
    assert!(matches!(assemble(&[thought.clone(), thought.clone(), thought.clone(), thought]).1, Err(Error::TooLarge { .. })));
}

#[track_caller]
fn check_usage(usage: &Value, expected: &Expect) {
    let (_, reply) = assemble(&[end("stop"), json!({ "choices": [], "usage": usage }), "[DONE]".into()]);
    expected.assert_eq(&format!("{:?}", reply.unwrap().unwrap().usage));
}

#[test]
fn usage_counts_each_token_once() {
    check_usage(
        &json!({ "prompt_tokens": 194, "completion_tokens": 2, "cost": 0.0106, "prompt_tokens_details": { "cached_tokens": 90, "cache_write_tokens": 100 } }),
        &expect!["Usage { steps: 1, input: 4, cache_read: 90, cache_write: 100, output: 2, cost: Cost(10600000000) }"],
    );
    check_usage(
        &json!({ "prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 4 }),
        &expect!["Usage { steps: 1, input: 6, cache_read: 4, cache_write: 0, output: 2, cost: Cost(49200000) }"],
    );
    check_usage(
        &json!({ "prompt_tokens": 1, "completion_tokens": 1, "cost": 0.01, "is_byok": true, "cost_details": { "upstream_inference_cost": 0.2 } }),
        &expect!["Usage { steps: 1, input: 1, cache_read: 0, cache_write: 0, output: 1, cost: Cost(210000000000) }"],
    );
}

#[test]
fn nonsense_in_usage_counts_as_nothing() {
    check_usage(
        &json!({ "prompt_tokens": -5, "completion_tokens": "many", "cost": -1.0, "prompt_tokens_details": { "cached_tokens": 900 } }),
        &expect!["Usage { steps: 1, input: 0, cache_read: 0, cache_write: 0, output: 0, cost: Cost(0) }"],
    );
    check_usage(
        &json!({ "prompt_tokens": 10, "completion_tokens": 1, "cost": 1e300, "prompt_tokens_details": { "cached_tokens": 900, "cache_write_tokens": 7 } }),
        &expect!["Usage { steps: 1, input: 0, cache_read: 10, cache_write: 0, output: 1, cost: Cost(18446744073709551615) }"],
    );
    check_usage(&json!("free"), &expect!["Usage { steps: 1, input: 0, cache_read: 0, cache_write: 0, output: 0, cost: Cost(0) }"]);
}
