use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::mock::script::Last;

fn ask(user: &str, last: Last, step: u32) -> Ask {
    Ask {
        model: "mock/echo".to_owned(),
        stream: true,
        include_usage: true,
        user: user.to_owned(),
        result: "the page".to_owned(),
        last,
        step,
        blocks: vec![],
    }
}

/// What each of the requests gets, one to a line.
#[track_caller]
fn check(script: &str, asks: &[Ask], expected: &Expect) {
    let script = Script::parse(script).unwrap();
    let mut state = State::default();
    let lines: Vec<String> = asks
        .iter()
        .map(|ask| match plan(&script, &mut state, ask) {
            Ok(Plan { rule, answer, fault }) => {
                let calls: Vec<String> =
                    answer.calls.iter().map(|call| format!(" {}:{}{:?}", call.id, call.name, call.arguments)).collect();
                let fault = fault.map(|fault| format!(" {fault:?}")).unwrap_or_default();
                format!("{rule:?} {:?}{} {}{fault}\n", answer.text, calls.concat(), answer.finish)
            }
            Err(refusal) => format!("{} {}\n", refusal.status, refusal.message),
        })
        .collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn without_a_rule_it_echoes() {
    check(
        "",
        &[ask("hello  there\n", Last::User, 1), ask("hello", Last::Tool, 2)],
        &expect![[r#"
        None ["hello", "  there", "\n"] stop
        None ["the", " page"] stop
    "#]],
    );
}

#[test]
fn the_first_rule_that_fits_decides() {
    let script = "
rules:
  - match: { contains: weather, step: 1 }
    respond: { calls: [{ name: fetch, arguments: { url: 'x/{user}', deep: ['{result}', 1] } }], split: 9 }
  - match: { last: tool }
    respond: { text: 'It says: {result} {other} {' }
  - match: { model: other }
    respond: { text: never }
";
    check(
        script,
        &[ask("the weather {result}?", Last::User, 1), ask("the weather?", Last::Tool, 2), ask("hello", Last::User, 1)],
        &expect![[r#"
            Some(0) [] call_1_0:fetch["{\"deep\":[", "\"the page", "\",1],\"url", "\":\"x/the ", "weather {", "result}?\"", "}"] tool_calls
            Some(1) ["It", " says:", " the", " page", " {other}", " {"] stop
            None ["hello"] stop
        "#]],
    );
}

#[test]
fn a_rule_may_be_for_so_many_requests() {
    let script = "
rules:
  - { times: 2, fault: { kind: cut, after: 1 } }
  - { times: 1, fault: { kind: http, status: 429 }, respond: { text: unheard } }
";
    check(
        script,
        &vec![ask("x", Last::User, 1); 4],
        &expect![[r#"
        Some(0) ["x"] stop Cut { after: 1 }
        Some(0) ["x"] stop Cut { after: 1 }
        Some(1) ["unheard"] stop Http { status: 429, message: None, retry_after: None, location: None }
        None ["x"] stop
    "#]],
    );
}

#[test]
fn arguments_that_are_a_text_are_sent_as_they_are() {
    check(
        r#"rules: [{ respond: { calls: [{ name: x, id: mine, arguments: '{"{user}' }, { name: y }], finish: length } }]"#,
        &[ask("hello", Last::User, 1)],
        &expect![[r#"
            Some(0) [] mine:x["{\"{user}"] call_1_1:y["{}"] length
        "#]],
    );
}

#[test]
fn a_model_that_the_script_does_not_name_does_not_exist() {
    check(
        "models: [mock/other]",
        &[ask("x", Last::User, 1)],
        &expect![[r"
            400 mock/echo is not a valid model ID
        "]],
    );
}

#[test]
fn a_bill_is_counted_or_stated() {
    let bill =
        |script: &str| plan(&Script::parse(script).unwrap(), &mut State::default(), &ask("hello you", Last::User, 1)).unwrap().answer.bill;
    let counted = bill("");
    assert_eq!((counted.completion, counted.prompt), (3, 0));
    assert!(counted.cost > 0.0);
    let stated = bill("rules: [{ respond: { usage: { prompt_tokens: 9, completion_tokens: 3, cached_tokens: 4, cost: 0.5 } } }]");
    assert_eq!(stated, Bill { prompt: 9, cached: 4, written: 0, completion: 3, reasoning: 0, cost: 0.5 });
}

proptest! {
    #[test]
    fn pieces_lose_nothing_and_keep_their_size(text in "[ aäß\n]{0,30}", bytes in proptest::option::of(1_usize..6)) {
        let pieces = pieces(&text, bytes);
        prop_assert_eq!(pieces.concat(), text);
        prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
        if let Some(bytes) = bytes {
            prop_assert!(pieces.iter().all(|piece| piece.len() <= bytes || piece.chars().count() == 1));
        }
    }
}
