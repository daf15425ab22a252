use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::event::{Compaction, Text};
use crate::id::SeqRange;
use crate::sample::Log;

/// What the fold says of a log written as in [`Log::of`].
fn check(script: &str, expected: &Expect) {
    let session = Log::of(script).session;
    let turn = session.current().map_or_else(
        || format!("idle, next turn {}", session.next_turn()),
        |current| format!("turn {}, attempt {}, {} steps", current.number, current.attempt, current.steps),
    );
    let numbers = |seqs: &[Seq]| seqs.iter().map(Seq::to_string).collect::<Vec<_>>().join(" ");
    let open = session.open().iter().map(|open| format!("{}/{}", open.message, open.call.id)).collect::<Vec<_>>().join(" ");
    expected.assert_eq(&format!(
        "{turn}; unanswered [{}] nudges [{}] open [{open}] todo {:?}{}",
        numbers(session.unanswered()),
        numbers(session.nudges()),
        session.todo().map(|seq| seq.0),
        if session.cancel_requested() { "; cancel requested" } else { "" },
    ));
}

#[test]
fn turns() {
    check("", &expect!["idle, next turn 1; unanswered [] nudges [] open [] todo None"]);
    check("u", &expect!["idle, next turn 1; unanswered [1] nudges [] open [] todo None"]);
    check("u[", &expect!["turn 1, attempt 1, 0 steps; unanswered [1] nudges [] open [] todo None"]);
    check("u[2r", &expect!["turn 1, attempt 1, 1 steps; unanswered [1] nudges [] open [3/c2] todo None"]);
    check("u[2rr.", &expect!["turn 1, attempt 1, 2 steps; unanswered [1] nudges [] open [] todo None"]);
    check("u[2rr.]", &expect!["idle, next turn 2; unanswered [] nudges [] open [] todo None"]);
    check("u[.]u[!!.", &expect!["turn 2, attempt 3, 1 steps; unanswered [5] nudges [] open [] todo None"]);
    check("u[tr1r", &expect!["turn 1, attempt 1, 2 steps; unanswered [1] nudges [] open [] todo Some(4)"]);
}

#[test]
fn input_during_a_turn_is_a_nudge_until_a_request_holds_it() {
    check("u[u", &expect!["turn 1, attempt 1, 0 steps; unanswered [1 3] nudges [3] open [] todo None"]);
    check("u[1ur", &expect!["turn 1, attempt 1, 1 steps; unanswered [1 4] nudges [4] open [] todo None"]);
    check("u[1ur.", &expect!["turn 1, attempt 1, 2 steps; unanswered [1 4] nudges [] open [] todo None"]);
    check("u[u~.", &expect!["turn 1, attempt 1, 1 steps; unanswered [1 3] nudges [3] open [] todo None"]);
    check("u[u~.]", &expect!["idle, next turn 2; unanswered [3] nudges [] open [] todo None"]);
    check("u[u.]", &expect!["idle, next turn 2; unanswered [] nudges [] open [] todo None"]);
    check("u[]", &expect!["idle, next turn 2; unanswered [] nudges [] open [] todo None"]);
}

#[test]
fn a_stop_answers_what_came_before_it() {
    check("x", &expect!["idle, next turn 1; unanswered [] nudges [] open [] todo None"]);
    check("xu", &expect!["idle, next turn 1; unanswered [2] nudges [] open [] todo None"]);
    check("ux", &expect!["idle, next turn 1; unanswered [1] nudges [] open [] todo None; cancel requested"]);
    check("uxu", &expect!["idle, next turn 1; unanswered [1 3] nudges [] open [] todo None"]);
    check("u[x", &expect!["turn 1, attempt 1, 0 steps; unanswered [1] nudges [] open [] todo None; cancel requested"]);
    check("u[x]", &expect!["idle, next turn 2; unanswered [] nudges [] open [] todo None"]);
    check("u[uxu]", &expect!["idle, next turn 2; unanswered [5] nudges [] open [] todo None"]);
}

/// What the log says to `body` after `script`.
fn refused(script: &str, body: impl FnOnce(&Log) -> Body, expected: &Expect) {
    let mut log = Log::of(script);
    let body = body(&log);
    expected.assert_eq(&log.add(body).unwrap_err().to_string());
}

#[test]
fn rules() {
    let text = || Text { text: "x".to_owned() };
    let result = |log: &Log, change: fn(&mut ToolResult)| {
        let Body::ToolResult(mut result) = log.result("x".to_owned()) else { unreachable!() };
        change(&mut result);
        Body::ToolResult(result)
    };
    let message = |log: &Log, change: fn(&mut AssistantMessage)| {
        let Body::AssistantMessage(mut message) = log.message(false, &["read", "write"]) else { unreachable!() };
        change(&mut message);
        Body::AssistantMessage(message)
    };
    refused("u", |_| Body::Note(text()), &expect!["event 2 (note) breaks a rule of the log: no turn is going on"]);
    refused(
        "u[1",
        |log| log.message(false, &[]),
        &expect!["event 4 (assistant/message) breaks a rule of the log: message 3 has calls without a result: 1"],
    );
    refused(
        "u[2r",
        |log| log.end(TurnStatus::Completed),
        &expect!["event 5 (turn/end) breaks a rule of the log: message 3 has calls without a result: 1"],
    );
    refused(
        "u[2",
        |_| Body::TurnInterrupted(TurnInterrupted { attempt: 2, text: String::new() }),
        &expect!["event 4 (turn/interrupted) breaks a rule of the log: message 3 has calls without a result: 2"],
    );
    refused(
        "u[!",
        |_| Body::TurnInterrupted(TurnInterrupted { attempt: 2, text: String::new() }),
        &expect!["event 4 (turn/interrupted) breaks a rule of the log: the last attempt was 2"],
    );
    refused(
        "u[2",
        |log| result(log, |result| "c2".clone_into(&mut result.call)),
        &expect![[r#"event 4 (tool/result) breaks a rule of the log: the result of call "c1" comes first"#]],
    );
    refused(
        "u[2",
        |log| result(log, |result| "c3".clone_into(&mut result.call)),
        &expect![[r#"event 4 (tool/result) breaks a rule of the log: no call "c3" of message 3 waits for a result"#]],
    );
    refused(
        "u[2r",
        |log| result(log, |result| "c1".clone_into(&mut result.call)),
        &expect![[r#"event 5 (tool/result) breaks a rule of the log: no call "c1" of message 3 waits for a result"#]],
    );
    refused(
        "u[2",
        |log| result(log, |result| result.message = Seq(1)),
        &expect![[r#"event 4 (tool/result) breaks a rule of the log: no call "c1" of message 1 waits for a result"#]],
    );
    refused(
        "u[2",
        |log| result(log, |result| "write".clone_into(&mut result.name)),
        &expect![[r#"event 4 (tool/result) breaks a rule of the log: the call is for "read""#]],
    );
    refused(
        "u[",
        |log| message(log, |message| "c2".clone_into(&mut message.calls[0].id)),
        &expect![[r#"event 3 (assistant/message) breaks a rule of the log: two calls have the id "c2""#]],
    );
    refused(
        "u[c",
        |log| message(log, |message| message.through = Seq(2)),
        &expect!["event 4 (assistant/message) breaks a rule of the log: its request cannot have ended at event 2"],
    );
    refused(
        "u[c",
        |log| message(log, |message| message.through = Seq(4)),
        &expect!["event 4 (assistant/message) breaks a rule of the log: its request cannot have ended at event 4"],
    );
    refused(
        "u[.",
        |_| Body::TurnEnd(TurnEnd { status: TurnStatus::Failed, reason: None, usage: Usage::default() }),
        &expect![
            "event 4 (turn/end) breaks a rule of the log: its steps add up to Usage { steps: 1, input: 10, cache_read: 0, cache_write: 0, output: 0, cost: Cost(0) }"
        ],
    );
    let spans = vec![SeqRange { first: Seq(1), last: Seq(2) }];
    refused(
        "u[.",
        |_| Body::Compaction(Compaction { spans, summary: "s".to_owned() }),
        &expect!["event 4 (compaction) breaks a rule of the log: event 1 is a user's message and is never summarised"],
    );
}

#[test]
fn positions_and_turns_count_up() {
    let mut log = Log::of("u[.]u[.");
    let refused = |log: &mut Log, change: fn(&mut Event), body: Body, expected: Expect| {
        let mut event = log.next(body);
        change(&mut event);
        expected.assert_eq(&log.session.push(&event).unwrap_err().to_string());
    };
    let note = Body::Note(Text { text: String::new() });
    refused(
        &mut log,
        |event| event.seq = event.seq.next(),
        note.clone(),
        expect!["event 9 (note) breaks a rule of the log: the next event is 8"],
    );
    refused(
        &mut log,
        |event| event.turn = Some(Turn(1)),
        note.clone(),
        expect!["event 8 (note) breaks a rule of the log: turn 2 is going on"],
    );
    refused(&mut log, |event| event.turn = None, note, expect!["event 8 (note) breaks a rule of the log: turn 2 is going on"]);
    let start = log.events[1].body.clone();
    refused(
        &mut log,
        |event| event.turn = Some(Turn(3)),
        start.clone(),
        expect!["event 8 (turn/start) breaks a rule of the log: turn 2 has not ended"],
    );
    let user = log.events[0].body.clone();
    refused(
        &mut log,
        |event| event.turn = Some(Turn(2)),
        user,
        expect!["event 8 (user/message) breaks a rule of the log: input belongs to no turn"],
    );
    let end = log.end(TurnStatus::Completed);
    log.add(end).unwrap();
    refused(
        &mut log,
        |event| event.turn = Some(Turn(2)),
        start,
        expect!["event 9 (turn/start) breaks a rule of the log: the next turn is 3"],
    );
}

proptest! {
    #[test]
    fn a_log_read_back_from_storage_folds_to_the_same_state(log in Log::random()) {
        let read = log.events.iter().map(|event| {
            Event::decode(event.seq, event.at, event.turn, event.body.kind(), &event.body.encode()).unwrap()
        });
        let session = Session::of(&read.collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(session.state_hash(), log.session.state_hash());
        prop_assert_eq!(session, log.session);
    }

    #[test]
    fn a_refused_event_changes_nothing(log in Log::random(), other in Log::random(), choice in any::<prop::sample::Index>()) {
        prop_assume!(!other.events.is_empty());
        let mut session = log.session.clone();
        let mut event = choice.get(&other.events).clone();
        event.seq = session.tail().next();
        if session.push(&event).is_err() {
            prop_assert_eq!(session, log.session);
        }
    }

    #[test]
    fn any_change_of_the_log_shows_in_the_hash(log in Log::random(), other in Log::random()) {
        prop_assert_eq!(log.session == other.session, log.session.state_hash() == other.session.state_hash());
    }

    /// Every user message is answered by a turn that begins after it, or waits.
    #[test]
    fn no_input_is_lost(log in Log::random()) {
        let last_start = log.events.iter().rfind(|event| matches!(event.body, Body::TurnStart(_)));
        for event in log.events.iter().filter(|event| matches!(event.body, Body::UserMessage(_))) {
            let waits = log.session.unanswered().contains(&event.seq);
            let stopped = log.events.iter().any(|later| later.seq > event.seq && matches!(later.body, Body::CancelRequested(_)));
            let held = log.events.iter().any(|later| matches!(&later.body, Body::AssistantMessage(message) if message.through >= event.seq));
            let before_start = last_start.is_some_and(|start| event.seq < start.seq);
            prop_assert!(waits || stopped || held || before_start, "message {} is lost", event.seq);
        }
    }
}
