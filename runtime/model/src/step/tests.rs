use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

#[track_caller]
fn check(status: Option<u16>, error: &Value, expected: &Expect) {
    expected.assert_eq(&Error::reported(status, error, None).to_string());
}

#[test]
fn http_errors_say_what_to_do() {
    check(
        Some(400),
        &json!({ "code": 400, "message": "bad \u{1b}[31m input\n" }),
        &expect![[
            r#"the model endpoint refused the request (400): "bad \u{1b}[31m input\n"; correct the Model or what the conversation holds"#
        ]],
    );
    check(
        Some(401),
        &json!({ "message": "No auth credentials found" }),
        &expect![[
            r#"the model endpoint does not accept the key (401): "No auth credentials found"; put a valid one in the Model's Secret"#
        ]],
    );
    check(
        Some(402),
        &json!("no credits"),
        &expect![[r#"the model endpoint's account has no credit left: "no credits"; add credit, then send another message"#]],
    );
    check(
        Some(429),
        &json!({}),
        &expect![[r#"the model endpoint limits the rate: "no reason given"; try again later or raise the limit with the provider"#]],
    );
    check(
        Some(529),
        &json!({ "type": "overloaded_error", "message": "Overloaded" }),
        &expect![[r#"the model endpoint fails (529): "Overloaded"; try again later or choose another Model"#]],
    );
}

#[test]
fn a_gateways_words_hide_the_providers() {
    check(
        Some(400),
        &json!({ "message": "Provider returned error", "metadata": { "provider_name": "Anthropic", "raw": "{\"message\":\"too many blocks\"}" } }),
        &expect![[
            r#"the model endpoint refused the request (400): "Provider returned error (Anthropic: {\"message\":\"too many blocks\"})"; correct the Model or what the conversation holds"#
        ]],
    );
}

#[test]
fn errors_inside_a_stream_have_a_code_or_a_name() {
    let transient = |error: Value| Error::reported(None, &error, None).is_transient();
    assert!(transient(json!({ "code": 502, "message": "Provider disconnected" })));
    assert!(transient(json!({ "code": "server_error", "message": "x" })));
    assert!(transient(json!({ "type": "overloaded_error" })));
    assert!(transient(json!({ "code": 429 })));
    assert!(transient(json!("anything")), "without a code it may pass");
    assert!(!transient(json!({ "code": 400 })));
    assert!(!transient(json!({ "code": 403, "message": "flagged" })));
    assert!(!transient(json!({ "type": "invalid_request_error" })));
}

#[test]
fn a_quota_that_is_used_up_is_no_rate_limit() {
    let error = Error::reported(Some(429), &json!({ "code": "insufficient_quota", "message": "quota" }), None);
    assert!(matches!(error, Error::NoCredit { .. }), "{error:?}");
}

#[test]
fn timeouts_and_conflicts_pass() {
    for status in [408, 409, 425, 500, 503, 599] {
        assert!(Error::reported(Some(status), &Value::Null, None).is_transient(), "{status}");
    }
    for status in [404, 413, 422] {
        assert!(!Error::reported(Some(status), &Value::Null, None).is_transient(), "{status}");
    }
}

#[test]
fn a_long_message_is_cut_between_characters() {
    assert_eq!(excerpt("äöü", 3), "äöü");
    assert_eq!(excerpt("äöü", 2), "äö…");
    let error = Error::reported(Some(400), &json!({ "message": "x".repeat(1 << 20) }), None);
    assert!(error.to_string().len() < 1000);
}
