use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::event::Body;
use crate::sample::Log;

fn written(spans: &[SeqRange]) -> String {
    spans.iter().map(|span| format!("{}-{}", span.first, span.last)).collect::<Vec<_>>().join(" ")
}

/// The plan for the log `script` (see [`Log::of`]); every text in it has 10 bytes, every call 6 and every summary 5.
fn planned(script: &str, head: usize, tail: usize, target: u64, expected: &Expect) {
    let plan = plan(Log::of(script).session.outline(), Keep { head, tail, target });
    expected.assert_eq(&plan.map_or_else(
        || "nothing".to_owned(),
        |plan| match plan.replaces[..] {
            [] => {
                assert_eq!(plan.spans, plan.fresh);
                written(&plan.spans)
            }
            _ => format!("{} from {:?} and {}", written(&plan.spans), plan.replaces, written(&plan.fresh)),
        },
    ));
}

#[test]
fn the_oldest_rounds_between_head_and_tail_go_first() {
    let script = "u[....1r1r..";
    planned(script, 1, 1, 1000, &expect!["nothing"]);
    planned(script, 1, 1, 100, &expect!["4-6"]);
    planned(script, 1, 1, 90, &expect!["4-8"]);
    planned(script, 1, 1, 0, &expect!["4-11"]);
    planned(script, 2, 3, 0, &expect!["5-8"]);
    planned(script, 0, 0, 0, &expect!["3-12"]);
    planned(script, 5, 5, 0, &expect!["nothing"]);
}

#[test]
fn spans_end_at_user_messages_and_run_over_what_the_model_never_sees() {
    planned("u[.]u[.]u[.]u[", 0, 0, 0, &expect!["3-3 7-7 11-11"]);
    planned("u[.n.c.", 0, 0, 0, &expect!["3-7"]);
    planned("u[2urur.", 0, 0, 0, &expect!["3-3 5-5 7-8"]);
}

#[test]
fn unfinished_rounds_and_the_latest_todo_list_stay() {
    planned("u[.2r", 0, 0, 0, &expect!["3-3"]);
    planned("u[tr.tr.", 0, 0, 0, &expect!["3-5 8-8"]);
}

#[test]
fn a_new_summary_takes_in_the_one_before_it() {
    planned("u[..1r.k..", 1, 1, 0, &expect!["4-9 from [Seq(8)] and 7-9"]);
    planned("u[..1r.k..", 1, 1, 45, &expect!["4-7 from [Seq(8)] and 7-7"]);
    planned("u[..K.K..", 1, 1, 0, &expect!["4-8 from [Seq(5), Seq(7)] and 8-8"]);
    planned("u[..1r.k", 1, 1, 0, &expect!["nothing"]);
}

fn refused(spans: &[(u64, u64)], summary: &str, expected: &Expect) {
    // 1 user, 2 start, 3-5 a round, 6 message, 7 user, 8-9 a round, 10-11 an unfinished round.
    let log = Log::of("u[2rr.u1r2r");
    let spans = spans.iter().map(|(first, last)| SeqRange { first: Seq(*first), last: Seq(*last) }).collect();
    let verdict = check(log.session.outline(), &Compaction { spans, summary: summary.to_owned() });
    expected.assert_eq(&verdict.map_or_else(|error| error.to_string(), |()| "stands".to_owned()));
}

#[test]
fn what_the_host_asks_of_a_compaction() {
    refused(&[(3, 6), (8, 9)], "s", &expect!["stands"]);
    refused(&[(2, 6)], "s", &expect!["stands"]);
    refused(&[(3, 6)], " \n", &expect!["the summary is blank"]);
    refused(&[(3, 6)], &"x".repeat(SUMMARY_BYTES + 1), &expect!["the summary has 65537 bytes; 65536 are allowed"]);
    refused(&[(3, 6)], &"x".repeat(SUMMARY_BYTES), &expect!["stands"]);
    refused(&[], "s", &expect!["it names 0 spans; 1 to 4096 are allowed"]);
    refused(&[(6, 3)], "s", &expect!["span 6..=3 is reversed, leaves the log, or does not come after the one before it"]);
    refused(&[(0, 2)], "s", &expect!["span 0..=2 is reversed, leaves the log, or does not come after the one before it"]);
    refused(&[(8, 12)], "s", &expect!["span 8..=12 is reversed, leaves the log, or does not come after the one before it"]);
    refused(&[(8, 9), (3, 6)], "s", &expect!["span 3..=6 is reversed, leaves the log, or does not come after the one before it"]);
    refused(&[(3, 5), (5, 6)], "s", &expect!["span 5..=6 is reversed, leaves the log, or does not come after the one before it"]);
    refused(&[(3, 7)], "s", &expect!["event 7 is a user's message and is never summarised"]);
    refused(&[(3, 4)], "s", &expect!["the spans split message 3 from the results of its calls"]);
    refused(&[(4, 6)], "s", &expect!["the spans split message 3 from the results of its calls"]);
    refused(&[(10, 11)], "s", &expect!["the spans split message 10 from the results of its calls"]);
    refused(&[(2, 2)], "s", &expect!["the spans hold nothing that the model sees"]);
    refused(
        &[(8, u64::MAX)],
        "s",
        &expect!["span 8..=18446744073709551615 is reversed, leaves the log, or does not come after the one before it"],
    );
}

#[test]
fn spans_are_bounded() {
    let log = Log::of(&format!("u[{}", ".u".repeat(SPANS + 1)));
    let spans = |count: u64| (0..count).map(|n| SeqRange { first: Seq(3 + 2 * n), last: Seq(3 + 2 * n) }).collect();
    let verdict = |count| check(log.session.outline(), &Compaction { spans: spans(count), summary: "s".to_owned() });
    assert_eq!(verdict(SPANS as u64), Ok(()));
    assert_eq!(verdict(SPANS as u64 + 1), Err(Error::Spans(SPANS + 1)));
    assert_eq!(plan(log.session.outline(), Keep { head: 0, tail: 1, target: 0 }).map(|plan| plan.spans.len()), Some(SPANS));
    assert_eq!(plan(log.session.outline(), Keep { head: 0, tail: 0, target: 0 }), None);
}

/// What the usual history shows of the log, in bytes, summaries aside.
fn texts(outline: &[Heading]) -> u64 {
    let covered: BTreeSet<Seq> = projection::in_force(outline)
        .iter()
        .flat_map(|record| record.spans)
        .flat_map(|span| within(outline, *span))
        .map(|heading| heading.seq)
        .collect();
    outline.iter().filter(|heading| heading.visible() && !covered.contains(&heading.seq)).map(|heading| heading.bytes).sum()
}

proptest! {
    #[test]
    fn a_plan_stands_and_keeps_its_promises(log in Log::random(), head in 0..3_usize, tail in 0..3_usize, target in 0..400_u64) {
        prop_assume!(log.session.current().is_some());
        let mut log = log;
        let before = log.session.outline().to_vec();
        let Some(plan) = plan(&before, Keep { head, tail, target }) else { return Ok(()) };
        let held = |seq: Seq| plan.spans.iter().any(|span| (span.first..=span.last).contains(&seq));

        // The log takes it, and it is the only one in force.
        let record = log.add(Body::Compaction(Compaction { spans: plan.spans.clone(), summary: "s".to_owned() }));
        let record = record.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let after = log.session.outline();
        prop_assert_eq!(projection::in_force(after).iter().map(|record| record.seq).collect::<Vec<_>>(), [record]);

        // What is new is what the earlier summaries do not stand for.
        let fresh = |seq: Seq| plan.fresh.iter().any(|span| (span.first..=span.last).contains(&seq));
        for heading in before.iter().filter(|heading| heading.visible()) {
            let stood = projection::in_force(&before).iter().flat_map(|record| record.spans).any(|span| (span.first..=span.last).contains(&heading.seq));
            prop_assert_eq!(fresh(heading.seq), held(heading.seq) && !stood);
        }

        // Head, tail and the latest list stay.
        let old = |round: &Round| projection::in_force(&before).iter().flat_map(|record| record.spans).any(|span| (span.first..=span.last).contains(&round.first()));
        let rounds = rounds(&before);
        let kept = rounds.iter().take(head).chain(rounds.iter().rev().take(tail)).filter(|round| !old(round));
        for round in kept {
            prop_assert!(!round.events.iter().any(|seq| held(*seq)), "a kept round is summarised");
        }
        if let Some(todo) = log.session.todo().filter(|todo| !rounds.iter().any(|round| old(round) && round.events.contains(todo))) {
            prop_assert!(!held(todo), "the list of what is to do is summarised");
        }

        // It stops at the first boundary under the target, and short of it only where nothing is left.
        let new: Vec<&Round> = rounds.iter().filter(|round| held(round.first()) && !old(round)).collect();
        let last = new.last().unwrap();
        let left = texts(after) + projection::in_force(&before).iter().map(|record| record.bytes).sum::<u64>();
        prop_assert!(left + last.bytes > target, "one round fewer would have done");
        let middle = head..rounds.len().saturating_sub(tail).max(head);
        let passed_over = rounds[middle].iter().find(|round| round.settled && !held(round.first()));
        prop_assert!(left <= target || passed_over.is_none(), "it stops above the target");
        if let Some(passed_over) = passed_over {
            prop_assert!(passed_over.first() > last.first(), "a newer round goes before an older one");
        }
    }

    #[test]
    fn no_spans_make_the_check_panic_or_split_a_round(log in Log::random(), spans in prop::collection::vec((0..90_u64, 0..12_u64), 0..4)) {
        let spans: Vec<SeqRange> = spans.into_iter().map(|(first, more)| SeqRange { first: Seq(first), last: Seq(first + more) }).collect();
        let held = |seq: Seq| spans.iter().any(|span| (span.first..=span.last).contains(&seq));
        if check(log.session.outline(), &Compaction { spans: spans.clone(), summary: "s".to_owned() }).is_ok() {
            for event in &log.events {
                match &event.body {
                    Body::UserMessage(_) => prop_assert!(!held(event.seq)),
                    Body::ToolResult(result) => prop_assert_eq!(held(event.seq), held(result.message)),
                    _ => {}
                }
            }
            prop_assert!(log.session.open().iter().all(|open| !held(open.message)));
        }
    }
}
