use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use thetis_core::key::Key;

use super::model;
use crate::objects::{Data, Secrets};
use crate::resolve::tests::{object, shown};

fn check(spec: &str, expected: &Expect) {
    let keys = [("api-key", "sk-1\n"), ("blank", " \n"), ("broken", "sk\n1")];
    let keys = keys.map(|(key, value)| (key.to_owned(), value.as_bytes().to_vec()));
    let data = Data { secrets: Secrets(BTreeMap::from([("openrouter".to_owned(), BTreeMap::from(keys))])), ..Data::default() };
    expected.assert_eq(&shown(model(&object(&format!(r#"{{"metadata": {{"name": "m"}}, "spec": {spec}}}"#)), &data)));
}

#[test]
fn a_local_model_needs_no_key() {
    check(
        r#"{"id": "mock/echo", "baseURL": "http://127.0.0.1:7788/v1"}"#,
        &expect![[r#"
            (
                Model {
                    wire_id: "mock/echo",
                    base_url: "http://127.0.0.1:7788/v1",
                    keyed: false,
                    cache: Implicit,
                    context_tokens: 128000,
                    output_tokens: 8192,
                    prices: Prices {
                        input: 0,
                        cache_read: 0,
                        cache_write: 0,
                        output: 0,
                    },
                },
                None,
            )"#]],
    );
}

#[test]
fn prices_are_exact_and_those_of_the_cache_follow_the_input() {
    check(
        r#"{"id": "anthropic/claude-opus-4.5", "key": {"secretKeyRef": {"name": "openrouter", "key": "api-key"}},
            "prices": {"input": "5", "output": "25", "cacheRead": "0.5"}}"#,
        &expect![[r#"
            (
                Model {
                    wire_id: "anthropic/claude-opus-4.5",
                    base_url: "https://openrouter.ai/api/v1",
                    keyed: true,
                    cache: Anthropic,
                    context_tokens: 128000,
                    output_tokens: 8192,
                    prices: Prices {
                        input: 5000000,
                        cache_read: 500000,
                        cache_write: 5000000,
                        output: 25000000,
                    },
                },
                Some(
                    Secret(***),
                ),
            )"#]],
    );
}

#[test]
fn a_model_that_wants_a_key_has_one_or_is_refused() {
    check(
        r#"{"id": "openai/gpt-5"}"#,
        &expect![
            "Model m: spec: openrouter.ai wants a key: name one in spec.key.secretKeyRef, or set the environment variable OPENROUTER_API_KEY where Thetis runs on one machine"
        ],
    );
    let named = |name: &str, key: &str| format!(r#"{{"id": "x", "key": {{"secretKeyRef": {{"name": "{name}", "key": "{key}"}}}}}}"#);
    check(&named("openruter", "api-key"), &expect!["Model m: spec.key.secretKeyRef: no Secret is called openruter; there are: openrouter"]);
    check(
        &named("openrouter", "apikey"),
        &expect!["Model m: spec.key.secretKeyRef: Secret openrouter has no key apikey; there are: api-key, blank, broken"],
    );
    check(
        &named("openrouter", "blank"),
        &expect!["Model m: spec.key.secretKeyRef: key blank of Secret openrouter is no API key: the key is blank"],
    );
    check(
        &named("openrouter", "broken"),
        &expect![
            "Model m: spec.key.secretKeyRef: key broken of Secret openrouter is no API key: the key holds white space or characters that are not ASCII"
        ],
    );
}

#[test]
fn the_ambient_key_is_for_openrouter_alone() {
    let data = Data { openrouter_key: Key::new("sk-1").ok(), ..Data::default() };
    let keyed = |url: &str| {
        let spec = format!(r#"{{"metadata": {{"name": "m"}}, "spec": {{"id": "x", "baseURL": "{url}"}}}}"#);
        model(&object(&spec), &data).map(|(model, key)| (model.keyed, key.is_some()))
    };
    assert_eq!(keyed("https://openrouter.ai/api/v1"), Ok((true, true)));
    assert_eq!(keyed("https://openrouter.ai.example.org/api/v1"), Ok((false, false)));
    assert_eq!(keyed("https://example.org/openrouter.ai"), Ok((false, false)));
}

#[test]
fn a_reply_fits_the_context() {
    let small = object(r#"{"metadata": {"name": "m"}, "spec": {"id": "x", "baseURL": "http://localhost/v1", "contextTokens": 4096}}"#);
    assert_eq!(model(&small, &Data::default()).map(|(model, _)| model.output_tokens), Ok(2048));
    check(
        r#"{"id": "x", "baseURL": "http://localhost/v1", "contextTokens": 8192, "outputTokens": 8192}"#,
        &expect!["Model m: spec.outputTokens: has to be less than contextTokens"],
    );
}
