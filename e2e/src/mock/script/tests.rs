use expect_test::{Expect, expect};

use super::*;

#[track_caller]
fn check(script: &str, expected: &Expect) {
    expected.assert_eq(&Script::parse(script).map_or_else(|error| error.to_string(), |script| format!("{script:?}")));
}

#[test]
fn the_example_is_a_script() {
    let script = Script::parse(include_str!("../../../scripts/example.yaml")).unwrap();
    assert_eq!(script.rules.len(), 12);
    assert_eq!(script.models, ["mock/echo", "mock/careful"]);
}

#[test]
fn nothing_is_a_script() {
    assert_eq!(Script::parse("").unwrap(), Script::default());
    assert_eq!(Script::parse("# nothing\n").unwrap(), Script::default());
}

#[test]
fn a_wrong_key_is_named_with_its_path() {
    check("rule: []", &expect!["the script is wrong at rule: unknown field `rule`, expected `models` or `rules`"]);
    check(
        "rules:\n  - respond: { txt: hello }",
        &expect![[
            r"the script is wrong at rules[0].respond.txt: unknown field `txt`, expected one of `shape`, `reasoning`, `text`, `calls`, `finish`, `usage`, `chunk`, `split`, `first_delay_ms`, `delay_ms`, `keepalive_ms`"
        ]],
    );
    check(
        "rules:\n  - match: { contain: x }\n    fault: { kind: silent }",
        &expect![
            "the script is wrong at rules[0].match.contain: unknown field `contain`, expected one of `model`, `contains`, `last`, `step`"
        ],
    );
    check(
        "rules:\n  - fault: { kind: cut, afer: 1 }",
        &expect!["the script is wrong at rules[0].fault: unknown field `afer`, expected `after`"],
    );
    check(
        "rules:\n  - fault: { kind: explode }",
        &expect![
            "the script is wrong at rules[0].fault.kind: unknown variant `explode`, expected one of `http`, `silent`, `cut`, `stall`, `malformed`, `error`"
        ],
    );
}

#[test]
fn a_wrong_value_is_named_with_its_path() {
    check("rules:\n  - times: 1", &expect![["the script is wrong at rules[0]: a rule needs `respond` or `fault`"]]);
    check(
        "rules:\n  - fault: { kind: http, status: 200 }",
        &expect![["the script is wrong at rules[0].fault.status: 300 to 599 are HTTP errors"]],
    );
    check("rules:\n  - respond: { chunk: 0 }", &expect![["the script is wrong at rules[0].respond: `chunk` and `split` are at least 1"]]);
    check(
        "rules:\n  - respond: { calls: [{ name: x, arguments: [1] }] }",
        &expect!["the script is wrong at rules[0].respond.calls[0].arguments: a mapping or a text"],
    );
    check(
        "rules:\n  - respond: { delay_ms: soon }",
        &expect![[r#"the script is wrong at rules[0].respond.delay_ms: invalid type: string "soon", expected u64"#]],
    );
}

#[test]
fn what_is_not_plain_yaml_is_refused() {
    check(
        "rules: [",
        &expect!["the script is not YAML: while parsing a node, did not find expected node content at byte 8 line 2 column 1"],
    );
    check("a: 1\n---\nb: 2", &expect![["the script holds more than one document, which it must not"]]);
    check("1: x", &expect![["the script holds a key that is not a text, which it must not"]]);
    check("rules: !secret x", &expect!["the script holds a tag, which it must not"]);
}
