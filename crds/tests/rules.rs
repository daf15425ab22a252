//! The CEL rules of the schemas, run as the API server runs them: what they forbid, and that they are cheap enough for it to
//! take them.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what is not there fails the test")]

use expect_test::{Expect, expect};
use kube_cel::{CompiledSchema, Validator, compile_schema, estimate_rule_cost};
use serde_json::{Value, json};
use thetis_crds::definition;

fn schema(kind: &str) -> Value {
    let definitions = definition::all();
    let definition = definitions.iter().find(|definition| definition.spec.names.kind == kind).unwrap();
    serde_json::to_value(definition::schema(definition).unwrap()).unwrap()
}

/// What is said of an object that replaces `old`, or of a new one where `old` is null.
fn check(kind: &str, old: Value, spec: Value, expected: &Expect) {
    check_named(kind, "a", old, spec, expected);
}

#[expect(clippy::needless_pass_by_value, reason = "callers write json! literals")]
fn check_named(kind: &str, name: &str, old: Value, spec: Value, expected: &Expect) {
    let object = |spec: &Value| json!({ "apiVersion": "thetis.dev/v1alpha1", "kind": kind, "metadata": { "name": name }, "spec": spec });
    let old = (!old.is_null()).then(|| object(&old));
    let said = match Validator::new().validate(&schema(kind), &object(&spec), old.as_ref()) {
        Ok(()) => String::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    };
    expected.assert_eq(&said);
}

#[test]
fn an_opening_prompt_stays() {
    let spec = |prompt: &str| json!({ "prompt": prompt });
    check("Conversation", Value::Null, spec("one"), &expect![""]);
    check("Conversation", spec("one"), spec("one"), &expect![""]);
    check("Conversation", json!({ "prompt": "one", "mode": "agent" }), json!({ "prompt": "one", "mode": "plan" }), &expect![""]);
    check(
        "Conversation",
        spec("one"),
        spec("two"),
        &expect!["spec: the opening prompt is the first entry of the log and cannot change; send a message instead"],
    );
    check(
        "Conversation",
        spec("one"),
        json!({}),
        &expect!["spec: the opening prompt is the first entry of the log and cannot change; send a message instead"],
    );
    check(
        "Conversation",
        json!({}),
        spec("one"),
        &expect!["spec: the opening prompt is the first entry of the log and cannot change; send a message instead"],
    );
}

#[test]
fn a_skill_has_its_instructions_in_one_place() {
    let from = json!({ "configMapKeyRef": { "name": "texts", "key": "a.md" } });
    check("Skill", Value::Null, json!({ "description": "d", "instructions": "i" }), &expect![""]);
    check("Skill", Value::Null, json!({ "description": "d", "instructionsFrom": from }), &expect![""]);
    check("Skill", Value::Null, json!({ "description": "d" }), &expect!["spec: give exactly one of instructions and instructionsFrom"]);
    check(
        "Skill",
        Value::Null,
        json!({ "description": "d", "instructions": "i", "instructionsFrom": from }),
        &expect!["spec: give exactly one of instructions and instructionsFrom"],
    );
}

#[test]
fn a_reply_fits_its_context() {
    check("Model", Value::Null, json!({ "id": "x" }), &expect![""]);
    check("Model", Value::Null, json!({ "id": "x", "contextTokens": 4096 }), &expect![""]);
    check(
        "Model",
        Value::Null,
        json!({ "id": "x", "contextTokens": 8192, "outputTokens": 8192 }),
        &expect!["spec: outputTokens has to be less than contextTokens, which counts request and reply together"],
    );
}

#[test]
fn an_aspect_has_one_source_and_one_kind() {
    let builtin = json!({ "name": "tool-fetch" });
    check("Aspect", Value::Null, json!({ "kind": "Tool", "source": { "builtin": builtin } }), &expect![""]);
    check(
        "Aspect",
        Value::Null,
        json!({ "kind": "Tool", "source": {} }),
        &expect!["spec.source: give exactly one of builtin, inline, configMap and git"],
    );
    check(
        "Aspect",
        Value::Null,
        json!({ "kind": "Tool", "source": { "builtin": builtin, "configMap": { "name": "a" } } }),
        &expect!["spec.source: give exactly one of builtin, inline, configMap and git"],
    );
    let of = |kind: &str| json!({ "kind": kind, "source": { "builtin": builtin } });
    check("Aspect", of("Tool"), of("Tool"), &expect![""]);
    check("Aspect", of("Tool"), of("Agent"), &expect!["spec.kind: an aspect's kind cannot change; make another aspect"]);
}

#[test]
fn names_leave_room_for_what_is_made_of_them() {
    let builtin = json!({ "kind": "Tool", "source": { "builtin": { "name": "tool-fetch" } } });
    check_named("Aspect", &"a".repeat(52), Value::Null, builtin.clone(), &expect![""]);
    check_named("Aspect", &"a".repeat(53), Value::Null, builtin, &expect!["an aspect's name has at most 52 characters"]);
    check_named("Runtime", &"a".repeat(53), Value::Null, json!({}), &expect!["a runtime's name has at most 52 characters"]);
    check_named("Conversation", &"a".repeat(63), Value::Null, json!({}), &expect![""]);
    check_named("Conversation", &"a".repeat(64), Value::Null, json!({}), &expect!["a conversation's name has at most 63 characters"]);
}

#[test]
fn a_runtime_names_namespaces_or_all_of_them() {
    check("Runtime", Value::Null, json!({ "namespaces": ["a", "b"] }), &expect![""]);
    check("Runtime", Value::Null, json!({ "namespaces": ["*"] }), &expect![""]);
    check("Runtime", Value::Null, json!({ "namespaces": ["a", "*"] }), &expect!["spec.namespaces: * stands alone"]);
}

#[test]
fn a_revision_and_a_snapshot_never_change() {
    let digest = format!("sha256:{}", "0".repeat(64));
    let revision = |number: i32| json!({ "aspect": "fetch", "number": number, "origin": "Spec" });
    let built = json!({ "aspect": "fetch", "number": 1, "origin": "Spec", "component": digest });
    check("Revision", revision(1), revision(1), &expect![""]);
    check("Revision", revision(1), revision(2), &expect!["spec: a revision never changes"]);
    check("Revision", revision(1), built.clone(), &expect![""]);
    check("Revision", built, revision(1), &expect!["spec: a revision's component is set once and never changes"]);
    let snapshot = |number: i32| json!({ "takenAt": "2026-11-30T12:00:00Z", "activated": "fetch", "revisions": [{ "aspect": "fetch", "revision": number }] });
    check("Snapshot", snapshot(1), snapshot(1), &expect![""]);
    check("Snapshot", snapshot(1), snapshot(2), &expect!["spec: a snapshot never changes"]);
}

/// Every rule compiles, and none is so dear that the API server would refuse the definition.
fn walk(path: &str, schema: &CompiledSchema, raw: &Value, rules: &mut usize) {
    assert!(schema.compilation_errors().is_empty(), "{path}: {:?}", schema.compilation_errors());
    for rule in raw["x-kubernetes-validations"].as_array().into_iter().flatten() {
        *rules += 1;
        let warnings = estimate_rule_cost(rule["rule"].as_str().unwrap(), schema);
        assert!(warnings.is_empty(), "{path}: {warnings:?}");
    }
    for (key, inner) in &schema.properties {
        walk(&format!("{path}.{key}"), inner, &raw["properties"][key], rules);
    }
    if let Some(item) = &schema.items {
        walk(&format!("{path}[]"), item, &raw["items"], rules);
    }
}

#[test]
fn every_rule_is_cheap_enough_to_be_taken() {
    let mut rules = 0;
    for definition in definition::all() {
        let kind = definition.spec.names.kind;
        let raw = schema(&kind);
        walk(&kind, &compile_schema(&raw), &raw, &mut rules);
    }
    assert!(rules >= 12, "{rules}");
}
