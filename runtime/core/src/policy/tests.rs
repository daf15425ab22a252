use expect_test::{Expect, expect};

use super::*;
use crate::tool::Replay;

fn tool(name: &str, mutating: bool) -> Manifest {
    let (name, description) = (name.to_owned(), String::new());
    Manifest { name, description, input_schema: serde_json::json!({}), mutating, parallel: false, replay: Replay::Unsafe }
}

/// Which of a reading and a writing tool the mode admits.
fn check(read_only: bool, tools: Option<&[&str]>, expected: &Expect) {
    let tools = tools.map(|tools| tools.iter().map(|tool| (*tool).to_owned()).collect());
    let mode = Mode { title: String::new(), read_only, tools, instructions: String::new() };
    let verdict = |tool: Manifest| admit(&mode, &tool).map_or_else(|refusal| refusal.to_string(), |()| format!("{} runs", tool.name));
    expected.assert_eq(&format!("{}; {}", verdict(tool("Read", false)), verdict(tool("Write", true))));
}

#[test]
fn a_mode_withholds_what_it_does_not_name_and_what_changes_things() {
    check(false, None, &expect!["Read runs; Write runs"]);
    check(true, None, &expect!["Read runs; not run: Write changes something, and this mode is read-only"]);
    check(false, Some(&["Write"]), &expect!["not run: Read is not among the tools of this mode; Write runs"]);
    check(
        true,
        Some(&["Write"]),
        &expect!["not run: Read is not among the tools of this mode; not run: Write changes something, and this mode is read-only"],
    );
    check(
        false,
        Some(&[]),
        &expect!["not run: Read is not among the tools of this mode; not run: Write is not among the tools of this mode"],
    );
    check(
        false,
        Some(&["read"]),
        &expect!["not run: Read is not among the tools of this mode; not run: Write is not among the tools of this mode"],
    );
}

#[test]
fn names_that_no_tool_has_are_shown_in_part() {
    expect![[r#"not run: there is no tool named "\u{1b}[2J evil \u{1b}[2J evil \u{1b}[2J evil \u{1b}[2J evil \u{1b}[2J evil \u{1b}[2J evil \u{1b}[2J""#]].assert_eq(&unknown(&"\u{1b}[2J evil ".repeat(100)).to_string());
}

fn passed(written: &str, expected: &Expect) {
    expected.assert_eq(&arguments(written).map_or_else(|refusal| refusal.to_string(), Cow::into_owned));
}

#[test]
fn arguments_are_an_object_or_nothing() {
    passed("", &expect!["{}"]);
    passed(" \n", &expect!["{}"]);
    passed(r#"{"path": "a"} "#, &expect![[r#"{"path": "a"} "#]]);
    passed(r#"{"path": "#, &expect!["not run: the arguments are not a JSON object (EOF while parsing a value at line 1 column 9)"]);
    passed("[1]", &expect!["not run: the arguments are not a JSON object (invalid type: sequence, expected a map at line 1 column 0)"]);
    passed("null", &expect!["not run: the arguments are not a JSON object (invalid type: null, expected a map at line 1 column 4)"]);
    passed(
        &"[".repeat(100_000),
        &expect!["not run: the arguments are not a JSON object (invalid type: sequence, expected a map at line 1 column 0)"],
    );
}
