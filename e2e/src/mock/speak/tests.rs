use expect_test::{Expect, expect};

use super::*;
use crate::mock::ask::Ask;
use crate::mock::plan::{State, plan};
use crate::mock::script::Script;

fn answer(shape: &str) -> Answer {
    let script = format!(
        "rules: [{{ respond: {{ shape: {shape}, reasoning: hm, text: one two, calls: [{{ name: fetch, arguments: {{ url: x }} }}], split: 5 }} }}]"
    );
    let ask = Ask::read(&json!({ "model": "mock/echo", "messages": [{ "role": "user", "content": "hello there" }] })).unwrap();
    plan(&Script::parse(&script).unwrap(), &mut State::default(), &ask).unwrap().answer
}

#[track_caller]
fn check(shape: &str, include_usage: bool, expected: &Expect) {
    let stream: String = events(&answer(shape), include_usage).iter().map(Event::wire).collect();
    expected.assert_eq(&stream);
}

#[test]
fn openrouter() {
    check(
        "openrouter",
        false,
        &expect![[r#"
        : OPENROUTER PROCESSING

        data: {"choices":[{"delta":{"content":"","reasoning":"hm","role":"assistant"},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":"one","role":"assistant"},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":" two","role":"assistant"},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"url","name":"fetch"},"id":"call_1_0","index":0,"type":"function"}]},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"\":\"x\""},"index":0}]},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"}"},"index":0}]},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":"tool_calls","index":0,"logprobs":null,"native_finish_reason":"tool_calls"}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock","usage":{"completion_tokens":8,"completion_tokens_details":{"reasoning_tokens":1},"cost":0.000144,"cost_details":{"upstream_inference_cost":null},"is_byok":false,"prompt_tokens":8,"prompt_tokens_details":{"audio_tokens":0,"cache_write_tokens":0,"cached_tokens":0},"total_tokens":16}}

        data: [DONE]

    "#]],
    );
}

#[test]
fn openai() {
    check(
        "openai",
        true,
        &expect![[r#"
        data: {"choices":[{"delta":{"content":"","refusal":null,"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}],"created":1764460800,"id":"chatcmpl-mock1","model":"mock/echo","object":"chat.completion.chunk","system_fingerprint":"fp_mock","usage":null}

        data: {"choices":[{"delta":{"reasoning_content":"hm"},"finish_reason":null,"index":0,"logprobs":null}],"created":1764460800,"id":"chatcmpl-mock1","model":"mock/echo","object":"chat.completion.chunk","system_fingerprint":"fp_mock","usage":null}

        data: {"choices":[{"delta":{"content":"one"},"finish_reason":null,"index":0,"logprobs":null}],"created":1764460800,"id":"chatcmpl-mock1","model":"mock/echo","object":"chat.completion.chunk","system_fingerprint":"fp_mock","usage":null}

        data: {"choices":[{"delta":{"content":" two"},"finish_reason":null,"index":0,"logprobs":null}],"created":1764460800,"id":"chatcmpl-mock1","model":"mock/echo","object":"chat.completion.chunk","system_fingerprint":"fp_mock","usage":null}

        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"url","name":"fetch"},"id":"call_1_0","index":0,"type":"function"}]},"finish_reason":null,"index":0,"logprobs":null}],"created":1764460800,"id":"chatcmpl-mock1","model":"mock/echo","object":"chat.completion.chunk","system_fingerprint":"fp_mock","usage":null}

        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"\":\"x\""},"index":0}]},"finish_reason":null,"index":0,"logprobs":null}],"created":1764460800,"id":"chatcmpl-mock1","model":"mock/echo","object":"chat.completion.chunk","system_fingerprint":"fp_mock","usage":null}

        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"},"index":0}]},"finish_reason":null,"index":0,"logprobs":null}],"created":1764460800,"id":"chatcmpl-mock1","model":"mock/echo","object":"chat.completion.chunk","system_fingerprint":"fp_mock","usage":null}

        data: {"choices":[{"delta":{},"finish_reason":"tool_calls","index":0,"logprobs":null}],"created":1764460800,"id":"chatcmpl-mock1","model":"mock/echo","object":"chat.completion.chunk","system_fingerprint":"fp_mock","usage":null}

        data: {"choices":[],"created":1764460800,"id":"chatcmpl-mock1","model":"mock/echo","object":"chat.completion.chunk","system_fingerprint":"fp_mock","usage":{"completion_tokens":8,"completion_tokens_details":{"reasoning_tokens":1},"prompt_tokens":8,"prompt_tokens_details":{"audio_tokens":0,"cached_tokens":0},"total_tokens":16}}

        data: [DONE]

    "#]],
    );
    assert!(events(&answer("openai"), false).iter().all(|event| !event.wire().contains("prompt_tokens")));
}

#[test]
fn anthropic_behind_openrouter() {
    check(
        "anthropic",
        false,
        &expect![[r#"
        : OPENROUTER PROCESSING

        data: {"choices":[{"delta":{"content":"","reasoning":"hm","reasoning_details":[{"format":"anthropic-claude-v1","index":0,"text":"hm","type":"reasoning.text"}],"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":"","reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"signed-gen-mock-1","type":"reasoning.text"}],"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":"one","role":"assistant"},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":" two","role":"assistant"},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"","name":"fetch"},"id":"toolu_1_0","index":0,"type":"function"}]},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"url"},"index":0}]},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"\":\"x\""},"index":0}]},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"}"},"index":0}]},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":"tool_calls","index":0,"logprobs":null,"native_finish_reason":"tool_use"}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock"}

        data: {"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":null,"index":0,"logprobs":null,"native_finish_reason":null}],"created":1764460800,"id":"gen-mock-1","model":"mock/echo","object":"chat.completion.chunk","provider":"Mock","usage":{"completion_tokens":8,"completion_tokens_details":{"reasoning_tokens":1},"cost":0.000144,"cost_details":{"upstream_inference_cost":null},"is_byok":false,"prompt_tokens":8,"prompt_tokens_details":{"audio_tokens":0,"cache_write_tokens":0,"cached_tokens":0},"total_tokens":16}}

        data: [DONE]

    "#]],
    );
}

#[test]
fn not_streamed() {
    expect![[r#"
        {
          "choices": [
            {
              "finish_reason": "tool_calls",
              "index": 0,
              "logprobs": null,
              "message": {
                "content": "one two",
                "reasoning": "hm",
                "refusal": null,
                "role": "assistant",
                "tool_calls": [
                  {
                    "function": {
                      "arguments": "{\"url\":\"x\"}",
                      "name": "fetch"
                    },
                    "id": "call_1_0",
                    "type": "function"
                  }
                ]
              }
            }
          ],
          "created": 1764460800,
          "id": "gen-mock-1",
          "model": "mock/echo",
          "object": "chat.completion",
          "provider": "Mock",
          "usage": {
            "completion_tokens": 8,
            "completion_tokens_details": {
              "reasoning_tokens": 1
            },
            "cost": 0.000144,
            "cost_details": {
              "upstream_inference_cost": null
            },
            "is_byok": false,
            "prompt_tokens": 8,
            "prompt_tokens_details": {
              "audio_tokens": 0,
              "cache_write_tokens": 0,
              "cached_tokens": 0
            },
            "total_tokens": 16
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&whole(&answer("openrouter"))).unwrap());
}
