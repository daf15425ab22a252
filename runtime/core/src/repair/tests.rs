use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::event::{Body, TurnEnd};
use crate::projection::{self, Request, history};
use crate::sample::Log;

/// What becomes of the log `script` (see [`Log::of`]) when its process dies; the tool `read` has this replay class.
fn check(script: &str, attempt: u32, read: Option<Replay>, expected: &Expect) {
    let repair = repair(&Log::of(script).session, attempt, |name| read.filter(|_| name == "read"));
    let result = |result: &ToolResult| format!("{} {:?}", result.call, result.outcome);
    let call = |call: &Call| match call {
        Call::Run(call) => format!("{} runs", call.id),
        Call::Answer(answer) => result(answer),
    };
    expected.assert_eq(&match repair {
        None => "nothing".to_owned(),
        Some(Repair::GoOn { calls, interrupted }) => {
            let calls: Vec<String> = calls.iter().map(call).collect();
            let attempt = interrupted.map_or_else(|| "no word of it".to_owned(), |interrupted| format!("attempt {}", interrupted.attempt));
            format!("goes on: {calls:?}, {attempt}")
        }
        Some(Repair::End { results, status, reason }) => {
            format!("ends: {:?}, {status:?} {}", results.iter().map(result).collect::<Vec<_>>(), reason.unwrap_or_default())
        }
    });
}

#[test]
fn open_calls_run_again_where_their_tool_allows_it() {
    let script = "u[3r";
    check(script, 2, Some(Replay::Safe), &expect![[r#"goes on: ["c2 runs", "c3 runs"], attempt 2"#]]);
    check(script, 2, Some(Replay::Keyed), &expect![[r#"goes on: ["c2 runs", "c3 runs"], attempt 2"#]]);
    check(script, 2, Some(Replay::Unsafe), &expect![[r#"goes on: ["c2 Interrupted", "c3 Interrupted"], attempt 2"#]]);
    check(script, 2, None, &expect![[r#"goes on: ["c2 Interrupted", "c3 Interrupted"], attempt 2"#]]);
}

#[test]
fn only_a_death_is_an_interruption() {
    check("u[.]", 1, None, &expect!["nothing"]);
    check("u[1", 1, None, &expect![[r#"goes on: ["c1 Interrupted"], no word of it"#]]);
    check("u[.", 2, None, &expect!["goes on: [], attempt 2"]);
    check("u[!.", 2, None, &expect!["goes on: [], no word of it"]);
    check("u[!.", 3, None, &expect!["goes on: [], attempt 3"]);
}

#[test]
fn a_turn_ends_after_three_attempts_or_when_it_was_stopped() {
    check(
        "u[!!2r",
        4,
        Some(Replay::Safe),
        &expect![[r#"ends: ["c2 Interrupted"], Failed the process that ran the turn went away three times; it is not tried again"#]],
    );
    check("u[2rx", 2, Some(Replay::Safe), &expect![[r#"ends: ["c2 Interrupted"], Cancelled "#]]);
}

#[test]
fn the_model_is_told() {
    expect!["The process that worked on this went away, and the work goes on from here (attempt 2 of 3). Calls that could be run again were; the others have a result that says that they were interrupted."].assert_eq(&told(2));
}

#[test]
fn a_key_names_one_call() {
    let conversation = |n| ConversationId(uuid::Uuid::from_u128(n));
    let key = idempotency_key(conversation(1), Seq(7), "call_1");
    // The outside remembers keys: were they made in another way, calls would happen twice.
    expect!["c5c0b615-c3d3-8187-9cbc-09fc45a9d1f3"].assert_eq(&key);
    assert_ne!(key, idempotency_key(conversation(2), Seq(7), "call_1"));
    assert_ne!(key, idempotency_key(conversation(1), Seq(8), "call_1"));
    assert_ne!(key, idempotency_key(conversation(1), Seq(7), "call_2"));
}

/// Everything that a repair asks for, in order, as if the calls had run.
fn asked(repair: Repair, log: &Log) -> Vec<Body> {
    let (results, last) = match repair {
        Repair::GoOn { calls, interrupted } => {
            let result = |(call, open): (Call, &OpenCall)| match call {
                Call::Run(_) => answer(open, CallOutcome::Answered, "ran"),
                Call::Answer(result) => result,
            };
            (calls.into_iter().zip(log.session.open()).map(result).collect(), interrupted.map(Body::TurnInterrupted))
        }
        Repair::End { results, status, reason } => {
            let usage = log.session.current().unwrap().usage;
            (results, Some(Body::TurnEnd(TurnEnd { status, reason, usage })))
        }
    };
    results.into_iter().map(Body::ToolResult).chain(last).collect()
}

proptest! {
    /// A process dies anywhere, and so do its successors while they repair what it left: the log takes all that is asked for,
    /// the next request is valid, and the turn is over after the last attempt or a stop.
    #[test]
    fn dying_anywhere_leaves_a_log_that_goes_on(
        log in Log::random(),
        deaths in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        read in prop::sample::select(vec![None, Some(Replay::Safe), Some(Replay::Keyed), Some(Replay::Unsafe)]),
    ) {
        let mut log = log;
        let mut attempt = log.session.current().map_or(0, |current| current.attempt);
        let stopped = log.session.cancel_requested();
        for death in deaths.into_iter().map(Some).chain([None]) {
            attempt += 1;
            let Some(repair) = repair(&log.session, attempt, |_| read) else { return Ok(()) };
            prop_assert_eq!(matches!(repair, Repair::End { .. }), stopped || attempt > ATTEMPTS);
            let asked = asked(repair, &log);
            let done = death.map_or(asked.len(), |death| death.index(asked.len() + 1));
            for body in asked.into_iter().take(done) {
                log.add(body).map_err(|violation| TestCaseError::fail(violation.to_string()))?;
            }
        }
        prop_assert!(log.session.open().is_empty());
        if log.session.current().is_some() {
            let request = Request { system: Vec::new(), tools: Vec::new(), history: history(log.session.outline()) };
            prop_assert!(projection::check(&log.session, &BTreeSet::new(), &request).is_ok());
        }
    }
}
