//! Claims: one at a time, by the database's clock; what is lost is fenced.

use std::time::Duration;

use futures::future::join_all;
use thetis_core::event::{Body, CancelRequested, Source};
use thetis_core::usage::{Cost, Usage};
use thetis_store::conversation::State;
use thetis_store::lease::Handover;
use thetis_store::log::{Append, End, append, input};

use crate::database::{TTL, append, assert_gapless, claimed, id, log, new, note, said, store};

const STOP: Body = Body::CancelRequested(CancelRequested { source: Source::Api });

#[tokio::test]
async fn of_fifty_racing_claimers_one_wins() {
    let store = store().await;
    store.create(&new(1, Some("go"))).await.unwrap();
    let owners: Vec<String> = (0..50).map(|number| format!("claimer-{number}")).collect();
    let claims = join_all(owners.iter().map(|owner| store.claim(id(1), owner, TTL))).await;
    let won: Vec<_> = claims.into_iter().filter_map(|claim| claim.unwrap()).collect();
    assert_eq!(won.len(), 1);
    assert_eq!((won[0].hold.epoch.0, won[0].attempt), (1, 1));
    let row = store.conversation_by_id(id(1)).await.unwrap().unwrap();
    assert_eq!((row.owner, row.state), (won[0].conversation.owner.clone(), State::Running));
}

/// A process that was paused past its lease wakes up, and can write nothing.
#[tokio::test]
async fn zombie_writer_fencing() {
    let store = store().await;
    let old = claimed(&store, 1).await;
    append(&store, old.hold, 1, &[note("before")]).await.unwrap();
    assert!(store.claim(id(1), "there", TTL).await.unwrap().is_none(), "the lease holds");
    store.renew("here", &[old.hold], Duration::ZERO).await.unwrap();
    // Out of its lease, and nobody else is there: what it writes is still in order.
    append(&store, old.hold, 2, &[note("late, but alone")]).await.unwrap();
    assert_eq!(store.runnable(9).await.unwrap(), [id(1)]);
    let new = store.claim(id(1), "there", TTL).await.unwrap().expect("the lease ran out");
    assert_eq!((new.hold.epoch.0, new.attempt, new.conversation.tail.0), (2, 2, 3));
    for tail in [3, 4] {
        assert!(matches!(append(&store, old.hold, tail, &[note("too late")]).await, Err(append::Error::Fenced)));
    }
    append(&store, new.hold, 3, &[note("after")]).await.unwrap();
    assert!(matches!(append(&store, old.hold, 4, &[note("too late")]).await, Err(append::Error::Fenced)));
    assert_eq!(store.renew("here", &[old.hold], TTL).await.unwrap().lost, [id(1)]);
    assert!(store.renew("there", &[new.hold], TTL).await.unwrap().lost.is_empty());
    let events = log(&store, 1).await;
    assert_eq!(events.len(), 4);
    assert_gapless(&events);
}

#[tokio::test]
async fn renewing_says_which_are_lost() {
    let store = store().await;
    let claims = [claimed(&store, 1).await, claimed(&store, 2).await, claimed(&store, 3).await];
    store.finish(id(2)).await.unwrap();
    let holds = claims.map(|claim| claim.hold);
    assert_eq!(store.renew("here", &holds, TTL).await.unwrap().lost, [id(2)]);
    assert_eq!(store.renew("elsewhere", &holds, TTL).await.unwrap().lost, [id(1), id(2), id(3)]);
    assert!(store.renew("here", &[], TTL).await.unwrap().lost.is_empty());
}

#[tokio::test]
async fn the_sweep_finds_what_is_due_and_free() {
    let store = store().await;
    for (number, prompt) in [(1, Some("go")), (2, None), (3, Some("go")), (4, Some("go"))] {
        store.create(&new(number, prompt)).await.unwrap();
    }
    assert_eq!(store.runnable(9).await.unwrap(), [id(1), id(3), id(4)], "longest wait first; without input there is nothing to do");
    assert_eq!(store.runnable(2).await.unwrap(), [id(1), id(3)]);
    store.claim(id(3), "here", TTL).await.unwrap().unwrap();
    assert_eq!(store.runnable(9).await.unwrap(), [id(1), id(4)]);
    store.input(id(2), said("hello")).await.unwrap();
    store.input(id(1), said("are you there?")).await.unwrap();
    assert_eq!(store.runnable(9).await.unwrap(), [id(1), id(4), id(2)], "asking again does not lose the place");
}

#[tokio::test]
async fn handing_over_counts_only_what_failed() {
    let store = store().await;
    let first = claimed(&store, 1).await;
    store.release(first.hold, Handover::Planned).await.unwrap();
    let second = store.claim(id(1), "there", TTL).await.unwrap().unwrap();
    assert_eq!((second.attempt, second.hold.epoch.0, second.conversation.state), (1, 2, State::Running));
    store.release(first.hold, Handover::Planned).await.unwrap();
    assert!(store.claim(id(1), "here", TTL).await.unwrap().is_none(), "an old claim gives nothing back");
    store.release(second.hold, Handover::Failed { pause: Duration::from_hours(1) }).await.unwrap();
    assert!(store.claim(id(1), "here", TTL).await.unwrap().is_none(), "the pause");
    store.input(id(1), said("go on")).await.unwrap();
    assert_eq!(store.claim(id(1), "here", TTL).await.unwrap().unwrap().attempt, 2, "input ends the pause");
}

#[tokio::test]
async fn a_turn_ends_in_its_last_append() {
    let store = store().await;
    let claim = claimed(&store, 1).await;
    let usage = Usage { steps: 2, input: 10, cache_read: 20, cache_write: 30, output: 40, cost: Cost(50) };
    let end = |hold, tail, runnable| Append {
        hold,
        tail: thetis_core::id::Seq(tail),
        turn: Some(thetis_core::id::Turn(1)),
        bodies: vec![note("bye")],
        end: Some(End { usage, runnable }),
    };
    store.append(end(claim.hold, 1, false)).await.unwrap();
    let row = store.conversation_by_id(id(1)).await.unwrap().unwrap();
    assert_eq!((row.state, row.owner, row.attempts, row.usage), (State::Idle, None, 0, usage));
    assert!(store.runnable(9).await.unwrap().is_empty());
    assert!(matches!(store.input(id(1), STOP).await, Err(input::Error::Idle(_))), "nothing to stop");

    store.input(id(1), said("again")).await.unwrap();
    let claim = store.claim(id(1), "here", TTL).await.unwrap().unwrap();
    assert_eq!(claim.attempt, 1);
    let most = Usage { steps: u32::MAX, input: u64::MAX, cache_read: u64::MAX, cache_write: 1, output: 2, cost: Cost(u64::MAX) };
    let last = Append { end: Some(End { usage: most, runnable: true }), ..end(claim.hold, 3, true) };
    store.append(last).await.unwrap();
    let row = store.conversation_by_id(id(1)).await.unwrap().unwrap();
    assert_eq!((row.usage.input, row.usage.cost, row.usage.output), (i64::MAX as u64, Cost(i64::MAX as u64), 42), "sums saturate");
    assert_eq!(store.runnable(9).await.unwrap(), [id(1)], "there was input left");
}

#[tokio::test]
async fn a_request_to_stop_is_kept_until_the_turn_ends() {
    let store = store().await;
    store.create(&new(1, None)).await.unwrap();
    assert!(matches!(store.input(id(1), STOP).await, Err(input::Error::Idle(_))));
    store.input(id(1), said("go")).await.unwrap();
    store.input(id(1), STOP).await.unwrap();
    let claim = store.claim(id(1), "here", TTL).await.unwrap().unwrap();
    assert_eq!(claim.conversation.state, State::Stopping, "asked for before the turn began");
    store.release(claim.hold, Handover::Planned).await.unwrap();
    let claim = store.claim(id(1), "there", TTL).await.unwrap().unwrap();
    assert_eq!(claim.conversation.state, State::Stopping, "a handover does not forget it");
    let end = Some(End { usage: Usage::default(), runnable: false });
    let tail = claim.conversation.tail;
    store.append(Append { hold: claim.hold, tail, turn: None, bodies: vec![note("stopped")], end }).await.unwrap();
    assert_eq!(store.conversation_by_id(id(1)).await.unwrap().unwrap().state, State::Idle);
}
