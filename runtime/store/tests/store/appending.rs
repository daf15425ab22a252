//! The log: fenced, gapless, in one commit for many, and never silently lost.

use futures::future::join_all;
use thetis_core::event::{AssistantMessage, Body};
use thetis_core::id::{Epoch, Seq, SeqRange, Turn};
use thetis_store::lease::Hold;
use thetis_store::log::{Append, append, input, read};
use thetis_store::open::{Options, Store};

use crate::database::{TTL, append, assert_gapless, claimed, connect, empty, id, log, message, new, note, options, said, store};

#[tokio::test]
async fn what_was_appended_is_read() {
    let store = store().await;
    let claim = claimed(&store, 1).await;
    let bodies = vec![note("one"), note("zero \u{0} and \u{10ffff}"), said("three")];
    let done = Append { hold: claim.hold, tail: Seq(1), turn: Some(Turn(7)), bodies: bodies.clone(), end: None };
    let done = store.append(done).await.unwrap();
    assert_eq!(done.first, Seq(2));
    let events = log(&store, 1).await;
    assert_gapless(&events);
    assert_eq!(events[1..].iter().map(|event| &event.body).collect::<Vec<_>>(), bodies.iter().collect::<Vec<_>>());
    assert!(events[1..].iter().all(|event| event.turn == Some(Turn(7)) && event.at == done.at));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert!(u128::from(done.at.0).abs_diff(now) < 60_000, "the database runs on this machine's clock");
    let part = store.read(id(1), SeqRange { first: Seq(2), last: Seq(3) }).await.unwrap();
    assert_eq!(part, events[1..3]);
    for (first, last) in [(5, 9), (3, 2), (u64::MAX, u64::MAX)] {
        assert!(store.read(id(1), SeqRange { first: Seq(first), last: Seq(last) }).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn the_log_moved() {
    let store = store().await;
    let claim = claimed(&store, 1).await;
    assert_eq!(store.input(id(1), said("wait")).await.unwrap(), Seq(2));
    let error = append(&store, claim.hold, 1, &[note("mine")]).await.unwrap_err();
    assert!(matches!(error, append::Error::Moved { tail: Seq(2) }), "{error}");
    append(&store, claim.hold, 2, &[note("mine")]).await.unwrap();
    for tail in [0, 9, u64::MAX] {
        assert!(matches!(append(&store, claim.hold, tail, &[note("lost")]).await, Err(append::Error::Moved { tail: Seq(3) })));
    }
    let nobody = Hold { conversation: id(9), ..claim.hold };
    assert!(matches!(append(&store, nobody, 0, &[note("lost")]).await, Err(append::Error::Fenced)));
    let future = Hold { epoch: Epoch(u64::MAX), ..claim.hold };
    assert!(matches!(append(&store, future, 3, &[note("lost")]).await, Err(append::Error::Fenced)));
    assert_eq!(log(&store, 1).await.len(), 3);
}

#[tokio::test]
async fn what_cannot_be_appended() {
    let store = store().await;
    let hold = claimed(&store, 1).await.hold;
    let rejected = async |append: Append| matches!(store.append(append).await, Err(append::Error::Rejected { fault: None, .. }));
    let append = Append { hold, tail: Seq(1), turn: None, bodies: vec![note("x")], end: None };
    assert!(rejected(Append { bodies: vec![], ..append.clone() }).await);
    assert!(rejected(Append { bodies: vec![note(""); thetis_store::log::MAX_EVENTS + 1], ..append.clone() }).await);
    assert!(rejected(Append { bodies: vec![note(&"x".repeat(thetis_store::log::MAX_BYTES))], ..append.clone() }).await);
    assert!(rejected(Append { turn: Some(Turn(u32::MAX)), ..append }).await);
    assert!(matches!(store.input(id(1), note("x")).await, Err(input::Error::NotInput { kind: "note" })));
    assert_eq!(log(&store, 1).await.len(), 1);
}

#[tokio::test]
async fn a_huge_body() {
    let store = store().await;
    let claim = claimed(&store, 1).await;
    let text: String = (0..4_000_000_u32).map(|n| char::from(b'a' + (n.wrapping_mul(2_654_435_761) >> 28) as u8)).collect();
    append(&store, claim.hold, 1, &[note(&text), note("small")]).await.unwrap();
    assert_eq!(log(&store, 1).await[1].body, note(&text));
}

#[tokio::test]
async fn an_event_of_another_version_stops_the_reader() {
    let url = empty().await;
    let store = Store::open(options(&url)).await.unwrap();
    claimed(&store, 1).await;
    let mut beside = connect(&url).await;
    for (kind, body) in [("later/kind", "{}"), ("note", r#"{"text":"x","more":1}"#)] {
        let row = sqlx::query("insert into event values ($1, 2, now(), null, $2, $3::json)");
        row.bind(id(1).0).bind(kind).bind(body).execute(&mut beside).await.unwrap();
        let error = store.read(id(1), SeqRange { first: Seq(1), last: Seq(9) }).await.unwrap_err();
        assert!(matches!(&error, read::Error::Unreadable { cause, .. } if cause.seq == Seq(2) && cause.kind == kind), "{error}");
        sqlx::query("delete from event where seq = 2").execute(&mut beside).await.unwrap();
    }
}

/// Two hundred and fifty-six conversations at once; in each, every append names the tail that the one before left.
#[tokio::test]
async fn many_conversations_share_commits_without_gaps() {
    let url = empty().await;
    let store = Store::open(options(&url)).await.unwrap();
    let claims = join_all((0..256).map(|number| claimed(&store, number))).await;
    let write = async |number: usize| {
        let mut tail = 1;
        for round in 0..8 {
            let events = 1 + (number * 7 + round * 3) % 4;
            let bodies: Vec<_> = (0..events).map(|event| note(&format!("{number} {round} {event}"))).collect();
            let done = append(&store, claims[number].hold, tail, &bodies).await.unwrap();
            assert_eq!(done.first, Seq(tail + 1));
            tail += events as u64;
        }
        tail
    };
    // Leases are renewed all the while: the same rows are locked, and nobody waits for ever.
    let holds: Vec<Hold> = claims.iter().rev().map(|claim| claim.hold).collect();
    let (writing, renewing) = (std::cell::Cell::new(true), store.clone());
    let renew = async {
        while writing.get() {
            assert!(renewing.renew("here", &holds, TTL).await.unwrap().lost.is_empty());
        }
    };
    let write_all = async {
        let tails = join_all((0..256).map(write)).await;
        writing.set(false);
        tails
    };
    let (tails, ()) = tokio::join!(write_all, renew);
    for (number, tail) in tails.into_iter().enumerate() {
        let events = log(&store, number as u128).await;
        assert_eq!(events.len() as u64, tail);
        assert_gapless(&events);
        assert_eq!(store.conversation_by_id(id(number as u128)).await.unwrap().unwrap().tail, Seq(tail));
    }
    // With a commit for each append there would be as many times as appends: 2048 and 256 prompts.
    let mut beside = connect(&url).await;
    let commits: i64 = sqlx::query_scalar("select count(distinct xmin::text) from event").fetch_one(&mut beside).await.unwrap();
    assert!(commits < 1500, "{commits} commits");
}

/// An append that the row refuses takes nothing from those that share its commit.
#[tokio::test]
async fn neighbours_of_a_fenced_append_are_written() {
    let store = store().await;
    let claims = join_all((0..40).map(|number| claimed(&store, number))).await;
    for number in (0..40_usize).step_by(3) {
        store.release(claims[number].hold, thetis_store::lease::Handover::Planned).await.unwrap();
        store.claim(id(number as u128), "there", TTL).await.unwrap().unwrap();
    }
    for number in (1..40_u128).step_by(3) {
        store.input(id(number), said("wait")).await.unwrap();
    }
    let bodies = [note("a"), note("b")];
    let answers = join_all(claims.iter().map(|claim| append(&store, claim.hold, 1, &bodies))).await;
    for (number, answer) in answers.into_iter().enumerate() {
        let length = log(&store, number as u128).await.len();
        match number % 3 {
            0 => assert!(matches!(answer, Err(append::Error::Fenced)) && length == 1, "{answer:?}"),
            1 => assert!(matches!(answer, Err(append::Error::Moved { tail: Seq(2) })) && length == 2, "{answer:?}"),
            _ => assert!(answer.is_ok() && length == 3, "{answer:?}"),
        }
    }
}

/// What the database itself refuses is found among its neighbours, and alone rejected.
#[tokio::test]
async fn neighbours_of_a_poisoned_append_are_written() {
    let url = empty().await;
    let store = Store::open(Options { committers: 1, ..options(&url) }).await.unwrap();
    let claims = join_all((0..40).map(|number| claimed(&store, number))).await;
    let mut beside = connect(&url).await;
    sqlx::query("alter table event add check (body::text not like '%poison%')").execute(&mut beside).await.unwrap();
    let text = |number: usize| if matches!(number, 7 | 8 | 30) { "poison" } else { "food" };
    let bodies: Vec<_> = (0..40).map(|number| [note("before"), note(text(number))]).collect();
    let answers = join_all(claims.iter().zip(&bodies).map(|(claim, bodies)| append(&store, claim.hold, 1, bodies))).await;
    for (number, answer) in answers.into_iter().enumerate() {
        let length = log(&store, number as u128).await.len();
        match text(number) {
            "poison" => assert!(matches!(answer, Err(append::Error::Rejected { fault: Some(_), .. })) && length == 1, "{answer:?}"),
            _ => assert!(answer.is_ok() && length == 3, "{answer:?}"),
        }
    }
    append(&store, claims[7].hold, 1, &[note("food")]).await.unwrap();
}

/// A provider's reasoning is JSON of its own; whatever its depth, the log takes it or says so, and goes on.
#[tokio::test]
async fn deep_json() {
    let store = store().await;
    let claim = claimed(&store, 1).await;
    let deep = (0..120).fold(serde_json::Value::Null, |inner, _| serde_json::json!([inner]));
    let message = Body::AssistantMessage(
        serde_json::from_value::<AssistantMessage>(serde_json::json!({
            "text": "", "reasoning": deep, "finish": "stop", "through": 1,
            "usage": { "steps": 1, "input": 0, "cache_read": 0, "cache_write": 0, "output": 0, "cost": 0 },
            "request": thetis_core::id::Digest::of(b""),
        }))
        .unwrap(),
    );
    append(&store, claim.hold, 1, std::slice::from_ref(&message)).await.unwrap();
    assert_eq!(log(&store, 1).await[1].body, message);
}

/// Somebody types, a turn writes, a watcher follows: nobody sees a gap or an event twice.
#[tokio::test]
async fn a_tailing_reader_sees_no_gap() {
    let store = store().await;
    let claim = claimed(&store, 1).await;
    let people = async {
        for number in 0..60 {
            store.input(id(1), said(&format!("message {number}"))).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    let turn = async {
        let mut tail = 1;
        for number in 0..60 {
            loop {
                match append(&store, claim.hold, tail, &[note(&format!("note {number}")), note("and more")]).await {
                    Ok(done) => break tail = done.first.0 + 1,
                    Err(append::Error::Moved { tail: now }) => tail = now.0,
                    Err(error) => panic!("{error}"),
                }
            }
        }
    };
    let watcher = async {
        let mut seen = vec![];
        while seen.len() < 181 {
            let first = Seq(seen.len() as u64 + 1);
            seen.extend(store.read(id(1), SeqRange { first, last: Seq(u64::MAX) }).await.unwrap());
            assert_gapless(&seen);
        }
        seen
    };
    let ((), (), seen) = tokio::join!(people, turn, watcher);
    assert_eq!(seen, log(&store, 1).await);
    let order: Vec<_> =
        seen.iter().filter_map(|event| if let Body::UserMessage(said) = &event.body { Some(said.text.clone()) } else { None }).collect();
    assert_eq!(order[1..], (0..60).map(|number| format!("message {number}")).collect::<Vec<_>>());
}

/// The queue is bounded: what does not fit is turned away at once, and what fits is written.
#[tokio::test]
async fn a_full_queue_turns_away() {
    let url = empty().await;
    let store = Store::open(Options { committers: 1, ..options(&url) }).await.unwrap();
    let claim = claimed(&store, 1).await;
    let mut beside = connect(&url).await;
    sqlx::query("begin").execute(&mut beside).await.unwrap();
    sqlx::query("select from conversation for update").execute(&mut beside).await.unwrap();
    let body = [note("x")];
    // The first commit waits for the lock; conversations that do not exist fill the queue behind it.
    let holds = (0..6000).map(|number| if number == 0 { claim.hold } else { Hold { conversation: id(number + 1), ..claim.hold } });
    let appends = join_all(holds.map(|hold| append(&store, hold, 1, &body)));
    let unlock = async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        sqlx::query("commit").execute(&mut beside).await.unwrap();
    };
    let (answers, ()) = tokio::join!(appends, unlock);
    let count = |wanted: fn(&append::Error) -> bool| answers.iter().filter(|answer| answer.as_ref().is_err_and(wanted)).count();
    let (busy, fenced) = (count(|error| matches!(error, append::Error::Busy)), count(|error| matches!(error, append::Error::Fenced)));
    assert!(busy > 0 && fenced > 0 && busy + fenced == 5999, "{busy} {fenced}");
    assert!(answers[0].is_ok());
    assert_eq!(log(&store, 1).await.len(), 2);
}

/// Who stops waiting does not take the append back.
#[tokio::test]
async fn an_append_outlives_its_caller() {
    let store = store().await;
    let claim = claimed(&store, 1).await;
    let body = [note("kept")];
    {
        let mut append = std::pin::pin!(append(&store, claim.hold, 1, &body));
        assert!(futures::poll!(&mut append).is_pending());
    }
    while log(&store, 1).await.len() < 2 {
        tokio::task::yield_now().await;
    }
    store.create(&new(2, Some(&message("the database goes on").text))).await.unwrap();
}
