use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::event::Body;
use crate::sample::Log;

/// Items as written in the tests: `1-4` events, `k7` the compaction 7.
fn items(text: &str) -> Vec<Item> {
    let seq = |text: &str| Seq(text.parse().unwrap());
    let item = |text: &str| match (text.strip_prefix('k'), text.split_once('-')) {
        (Some(record), _) => Item::Compaction(seq(record)),
        (_, Some((first, last))) => Item::Events(SeqRange { first: seq(first), last: seq(last) }),
        _ => Item::Events(SeqRange { first: seq(text), last: seq(text) }),
    };
    text.split_whitespace().map(item).collect()
}

fn written(entries: &[Entry]) -> String {
    let entry = |entry: &Entry| match entry {
        Entry::Event(seq) => seq.to_string(),
        Entry::Summary(seq) => format!("k{seq}"),
    };
    entries.iter().map(entry).collect::<Vec<_>>().join(" ")
}

fn request(history: Vec<Item>) -> Request {
    Request { system: vec!["You are an agent.".to_owned()], tools: vec!["read".to_owned()], history }
}

fn verdict(log: &Log, request: &Request) -> String {
    match check(&log.session, &BTreeSet::from(["read", "write"]), request) {
        Ok(projection) => format!("{} (through {})", written(&projection.entries), projection.through),
        Err(error) => error.to_string(),
    }
}

/// What the model is shown of the log `script` (see [`Log::of`]) through `history`, or why nothing.
fn shown(script: &str, history: &str, expected: &Expect) {
    expected.assert_eq(&verdict(&Log::of(script), &request(items(history))));
}

#[test]
fn the_model_never_sees_turn_boundaries_notes_and_stops() {
    shown("u[", "1-2", &expect!["1 (through 2)"]);
    shown("u[nc.]u[", "1-8", &expect!["1 4 5 7 (through 8)"]);
    shown("u[1r.]ux[!", "1-10", &expect!["1 3 4 5 7 10 (through 10)"]);
}

#[test]
fn input_follows_the_round_that_had_not_met_it() {
    shown("u[2urur", "1-7", &expect!["1 3 5 7 4 6 (through 7)"]);
    shown("u[u~.", "1-4", &expect!["1 4 3 (through 4)"]);
    shown("u[uu~2rurc", "1-9", &expect!["1 5 6 8 3 4 7 9 (through 9)"]);
    shown("u[uu~2rr.]u[", "1-11", &expect!["1 5 6 7 3 4 8 10 (through 11)"]);
}

#[test]
fn a_summary_stands_where_its_first_span_was() {
    // 1 user, 2 start, 3-5 and 6-8 rounds, 9 user, 10-11 and 12-13 rounds, 14 compaction of 6-8 and 10-11.
    let script = "u[2rr2rru1r1rk";
    shown(script, "1-5 k14 9 12-14", &expect!["1 3 4 5 k14 9 12 13 (through 14)"]);
    shown(script, "1-14", &expect!["1 3 4 5 6 7 8 9 10 11 12 13 (through 14)"]);
    shown(script, "1-5 k14 9 12-13", &expect!["event 14 is not covered"]);
    shown(script, "1-5 9 k14 12-14", &expect!["item 2 begins at event 6, not after the item in front of it"]);
    shown(script, "1-5 k14 12-14", &expect!["event 9 is not covered"]);
    shown(script, "1-5 k14 9-14", &expect!["event 10 is covered twice"]);
    shown(script, "1-5 k14 k14 9 12-14", &expect!["item 2 begins at event 6, not after the item in front of it"]);
    shown(script, "1-5 k13 9 12-14", &expect!["item 1: event 13 is not a compaction"]);
    shown(script, "1-5 k15 9 12-14", &expect!["item 1: event 15 is not a compaction"]);
}

/// The usual history of the log `script`.
fn usual(script: &str, expected: &Expect) {
    let item = |item: Item| match item {
        Item::Events(range) => format!("{}-{}", range.first, range.last),
        Item::Compaction(seq) => format!("k{seq}"),
    };
    expected.assert_eq(&history(Log::of(script).session.outline()).into_iter().map(item).collect::<Vec<_>>().join(" "));
}

#[test]
fn a_compaction_is_in_force_until_a_newer_one_overlaps_it() {
    usual("u[..", &expect!["1-4"]);
    usual("u[...K", &expect!["1-4 k6 6-6"]);
    usual("u[..K.K", &expect!["1-3 k5 5-5 k7 7-7"]);
    usual("u[..KK", &expect!["1-3 k6 5-6"]);
    usual("u[..K.Kk..", &expect!["1-3 k5 5-5 k7 7-9"]);
    usual("u[..k..K", &expect!["1-5 k7 7-7"]);
    usual("u[1ru.K", &expect!["1-5 k7 7-7"]);
    usual("u[1urK", &expect!["1-2 k6 4-4 6-6"]);
}

#[test]
fn every_event_is_covered_once_and_in_order() {
    shown("u[.u", "", &expect!["event 1 is not covered"]);
    shown("u[.u", "1-4", &expect!["1 3 4 (through 4)"]);
    shown("u[cu", "1-3", &expect!["1 3 (through 3)"]);
    shown("u[uc", "1-2", &expect!["event 3 is not covered"]);
    shown("u[.u", "2-4", &expect!["event 1 is not covered"]);
    shown("u[.u", "1 3-4", &expect!["event 2 is not covered"]);
    shown("u[.u", "1-3 3-4", &expect!["event 3 is covered twice"]);
    shown("u[.u", "3-4 1-2", &expect!["item 1 begins at event 1, not after the item in front of it"]);
    shown("u[.u", "1-4 1-4", &expect!["item 1 begins at event 1, not after the item in front of it"]);
    shown("u[.u", "1 2 3 4 5", &expect!["item 4: 5..=5 is reversed or leaves the log, which ends at 4"]);
    shown("u[.u", "4-1", &expect!["item 0: 4..=1 is reversed or leaves the log, which ends at 4"]);
    shown("u[.u", "0-4", &expect!["item 0: 0..=4 is reversed or leaves the log, which ends at 4"]);
    shown("u[.u", "1-5", &expect!["item 0: 1..=5 is reversed or leaves the log, which ends at 4"]);
    shown("u[.u", "1-18446744073709551615", &expect!["item 0: 1..=18446744073709551615 is reversed or leaves the log, which ends at 4"]);
}

#[test]
fn the_model_has_something_to_answer() {
    shown("[", "1", &expect!["there is nothing for the model to answer"]);
    shown("u[.", "1-3", &expect!["there is nothing for the model to answer"]);
    shown("u[1", "1-3", &expect!["message 3 has calls without a result: dispatch it first"]);
    shown("u[2r", "1-4", &expect!["message 3 has calls without a result: dispatch it first"]);
}

#[test]
fn tools_are_listed_and_the_system_prompt_is_bounded() {
    let log = Log::of("u[");
    let check = |change: fn(&mut Request), expected: &Expect| {
        let mut request = request(items("1-2"));
        change(&mut request);
        expected.assert_eq(&verdict(&log, &request));
    };
    check(|request| request.tools.push("write".to_owned()), &expect!["1 (through 2)"]);
    check(|request| request.tools.push("read".to_owned()), &expect![[r#"tool "read" is offered twice"#]]);
    check(
        |request| request.tools.push("bash".repeat(100)),
        &expect![[r#"tool "bashbashbashbashbashbashbashbashbashbashbashbashbashbashbashbash" is not listed"#]],
    );
    check(|request| request.system = vec![String::new(); 64], &expect!["1 (through 2)"]);
    check(|request| request.system = vec!["x".repeat(SYSTEM_BYTES)], &expect!["1 (through 2)"]);
    check(
        |request| request.system = vec![String::new(); 65],
        &expect!["the system prompt has 65 parts and 0 bytes; 64 and 524288 are allowed"],
    );
    check(
        |request| request.system.push("x".repeat(SYSTEM_BYTES)),
        &expect!["the system prompt has 2 parts and 524305 bytes; 64 and 524288 are allowed"],
    );
}

#[test]
fn the_digest_tells_requests_apart() {
    let request = request(items("1-2"));
    let of = |request: &Request, entries: &str| {
        digest(request, &entries.split(' ').map(|seq| Entry::Event(Seq(seq.parse().unwrap()))).collect::<Vec<_>>())
    };
    let mut other = request.clone();
    other.system.push(String::new());
    assert_eq!(of(&request, "1 2"), of(&request.clone(), "1 2"));
    assert_ne!(of(&request, "1 2"), of(&request, "2 1"));
    assert_ne!(of(&request, "1 2"), of(&other, "1 2"));
    assert_ne!(digest(&request, &[Entry::Event(Seq(3))]), digest(&request, &[Entry::Summary(Seq(3))]));
}

/// The text of the log, as a provider demands it: each message right before all its results, in call order.
fn assert_valid(log: &Log, entries: &[Entry]) {
    let mut owed: Vec<(Seq, String)> = Vec::new();
    for entry in entries {
        let (Entry::Event(seq) | Entry::Summary(seq)) = *entry;
        match &log.get(seq).unwrap().body {
            Body::ToolResult(result) => {
                assert!(!owed.is_empty(), "{seq} answers nothing");
                assert_eq!(owed.remove(0), (result.message, result.call.clone()));
            }
            Body::AssistantMessage(message) => {
                assert!(owed.is_empty(), "{seq} comes before the results of {owed:?}");
                owed = message.calls.iter().map(|call| (seq, call.id.clone())).collect();
            }
            _ => assert!(owed.is_empty(), "{seq} comes between {owed:?} and its message"),
        }
    }
    assert!(owed.is_empty());
}

fn indifferent_to_the_last_word(error: &Error) -> bool {
    matches!(error, Error::OpenCalls { .. } | Error::NothingToAnswer)
}

proptest! {
    #[test]
    fn the_usual_history_is_always_valid(log in Log::random()) {
        match check(&log.session, &BTreeSet::from(["read"]), &request(history(log.session.outline()))) {
            Err(error) => prop_assert!(indifferent_to_the_last_word(&error), "{}", error),
            Ok(projection) => {
                assert_valid(&log, &projection.entries);
                prop_assert_eq!(projection.through, log.session.tail());
                let shown: BTreeSet<Seq> = projection.entries.iter().filter_map(|entry| match entry {
                    Entry::Event(seq) => Some(*seq),
                    Entry::Summary(_) => None,
                }).collect();
                for event in log.events.iter().filter(|event| matches!(event.body, Body::UserMessage(_))) {
                    prop_assert!(shown.contains(&event.seq), "message {} is not shown", event.seq);
                }
            }
        }
    }

    /// A later request starts with all that an earlier one showed, so the provider's cache holds; but for a new summary.
    #[test]
    fn a_request_extends_the_one_before_it(log in Log::random()) {
        let mut before: Option<Vec<Entry>> = None;
        let mut session = Session::default();
        for event in &log.events {
            session.push(event).unwrap();
            if matches!(event.body, Body::Compaction(_)) {
                before = None;
            }
            let Ok(projection) = check(&session, &BTreeSet::from(["read"]), &request(history(session.outline()))) else { continue };
            if let Some(before) = &before {
                prop_assert!(projection.entries.starts_with(before), "{} after {}", written(&projection.entries), written(before));
            }
            // Only a request that the model answered was made, and it held only what the answer says.
            if let Some(Body::AssistantMessage(answer)) = log.get(event.seq.next()).map(|next| &next.body) {
                let held = |entry: &Entry| !matches!(entry, Entry::Event(seq) if *seq > answer.through);
                before = Some(projection.entries.into_iter().filter(held).collect());
            }
        }
    }

    /// Whatever a guest sends, the host neither panics nor shows the model what the log does not allow.
    #[test]
    fn any_history_is_refused_or_valid(
        log in Log::random(),
        items in prop::collection::vec((any::<bool>(), 0..90_u64, 0..90_u64), 0..6),
    ) {
        let item = |(events, first, last): (bool, u64, u64)| {
            if events { Item::Events(SeqRange { first: Seq(first), last: Seq(last) }) } else { Item::Compaction(Seq(first)) }
        };
        if let Ok(projection) = check(&log.session, &BTreeSet::from(["read"]), &request(items.into_iter().map(item).collect())) {
            assert_valid(&log, &projection.entries);
        }
    }

    /// The usual history with one item changed is what a nearly correct agent sends.
    #[test]
    fn a_damaged_history_is_refused_or_valid(log in Log::random(), choice in any::<prop::sample::Index>(), damage in 0..4, by in 0..5_u64) {
        let mut items = history(log.session.outline());
        prop_assume!(!items.is_empty());
        let index = choice.index(items.len());
        match (damage, &mut items[index]) {
            (0, _) => drop(items.remove(index)),
            (1, _) => items.swap(0, index),
            (2, Item::Events(range)) => range.last.0 = range.last.0.saturating_sub(by),
            (_, Item::Events(range)) => range.first.0 += by,
            (_, Item::Compaction(seq)) => seq.0 = seq.0.saturating_sub(by),
        }
        let whole = history(log.session.outline());
        if let Ok(projection) = check(&log.session, &BTreeSet::from(["read"]), &request(items.clone())) {
            assert_valid(&log, &projection.entries);
            let cut = log.events.iter().all(|event| event.seq <= projection.through || event.turn.is_none());
            prop_assert!(items == whole || cut);
        }
    }
}
