use expect_test::{Expect, expect};
use futures::FutureExt as _;

use super::*;

fn id(number: u128) -> ConversationId {
    ConversationId(uuid::Uuid::from_u128(number))
}

fn delta(number: u128, text: &str) -> Hint {
    Hint::Delta { conversation: id(number), text: text.into() }
}

/// All that is there to be heard now.
fn heard(subscription: &mut Subscription) -> Vec<Heard> {
    std::iter::from_fn(|| subscription.next().now_or_never()).collect()
}

#[test]
fn each_hears_what_it_listens_for() {
    let hints = Hints::local();
    hints.publish(Hint::Runnable(id(1)));
    let (mut work, mut one, mut also_one, mut two) = (hints.work(), hints.watch(id(1)), hints.watch(id(1)), hints.watch(id(2)));
    hints.publish(Hint::Cancel(id(1)));
    hints.clone().publish(delta(1, "a"));
    hints.publish(Hint::Restart(id(2)));
    assert_eq!(heard(&mut work), [Ok(Hint::Cancel(id(1)))]);
    assert_eq!(heard(&mut one), [Ok(delta(1, "a"))]);
    assert_eq!(heard(&mut also_one), [Ok(delta(1, "a"))]);
    assert_eq!(heard(&mut two), [Ok(Hint::Restart(id(2)))]);
}

#[test]
fn who_is_slow_is_told_so() {
    let hints = Hints::local();
    let mut slow = hints.watch(id(1));
    for number in 0..=DELTAS {
        hints.publish(delta(1, &number.to_string()));
    }
    let heard = heard(&mut slow);
    assert_eq!(heard[0], Err(Missed));
    assert_eq!(heard[1..].len(), DELTAS);
    assert_eq!(heard.last(), Some(&Ok(delta(1, &DELTAS.to_string()))));
}

#[test]
fn a_conversation_that_nobody_watches_takes_no_room() {
    let hints = Hints::local();
    let (one, mut other) = (hints.watch(id(1)), hints.watch(id(1)));
    drop(one);
    hints.publish(delta(1, "still here"));
    assert_eq!(heard(&mut other).len(), 1);
    drop(other);
    assert!(hints.bus.watched().is_empty());
    drop(hints.work());
    hints.publish(delta(1, "nobody"));
}

#[test]
fn a_listener_waits_when_nobody_can_publish_any_more() {
    let hints = Hints::local();
    let mut work = hints.work();
    drop(hints);
    assert!(heard(&mut work).is_empty());
}

#[test]
fn on_the_wire() {
    let check = |hint: Hint, expected: Expect| {
        let text = serde_json::to_string(&hint).unwrap();
        expected.assert_eq(&format!("{} {text}", nats::subject(hint.conversation())));
        assert_eq!(serde_json::from_str::<Hint>(&text).unwrap(), hint);
    };
    check(Hint::Runnable(id(1)), expect![[r#"thetis.work {"hint":"runnable","of":"00000000-0000-0000-0000-000000000001"}"#]]);
    check(Hint::Settings { namespace: "default".into() }, expect![[r#"thetis.work {"hint":"settings","of":{"namespace":"default"}}"#]]);
    check(
        Hint::Appended { conversation: id(1), tail: Seq(7) },
        expect![[
            r#"thetis.conversation.00000000-0000-0000-0000-000000000001 {"hint":"appended","of":{"conversation":"00000000-0000-0000-0000-000000000001","tail":7}}"#
        ]],
    );
    for malformed in ["", "null", "{}", r#"{"hint":"explode","of":1}"#, r#"{"hint":"cancel","of":"not an id"}"#] {
        assert!(serde_json::from_str::<Hint>(malformed).is_err(), "{malformed}");
    }
}
