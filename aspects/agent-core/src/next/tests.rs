//! Logs, and what a turn does after each.

use proptest::prelude::*;
use thetis_core::outline::Role::{Hidden, Shown, User};
use thetis_sdk::agent::Ending;

use super::*;

const fn said(calls: u32, through: u64) -> Role {
    Role::Message { calls, through: Seq(through) }
}

const fn answer(message: u64) -> Role {
    Role::Answer { message: Seq(message), tool: String::new() }
}

const fn heading(seq: Seq, role: Role) -> Heading {
    Heading { seq, turn: None, role, bytes: 0 }
}

/// `log` from event 1; the turn starts at its event `start` and may make three requests.
fn check(start: u64, log: &[Role], expected: Action) {
    let mut view = View::new(Seq(start), 3);
    for role in log {
        view.fold(heading(view.tail().next(), role.clone()));
    }
    assert_eq!(view.next(), expected, "after {log:?}");
}

#[test]
fn a_first_message_is_put_to_the_model() {
    check(2, &[User, Hidden], Action::Step);
}

#[test]
fn a_turn_without_input_is_empty() {
    check(1, &[Hidden], Action::End(Ending::Empty));
    check(5, &[User, Hidden, said(0, 2), Hidden, Hidden], Action::End(Ending::Empty));
}

#[test]
fn the_last_word_ends_the_turn() {
    check(2, &[User, Hidden, said(0, 2)], Action::End(Ending::Completed));
}

#[test]
fn calls_are_run_and_their_results_shown() {
    check(2, &[User, Hidden, said(2, 2)], Action::Dispatch(Seq(3)));
    check(2, &[User, Hidden, said(2, 2), answer(3)], Action::Dispatch(Seq(3)));
    check(2, &[User, Hidden, said(2, 2), answer(3), answer(3)], Action::Step);
}

#[test]
fn results_of_an_earlier_message_do_not_answer_a_later_one() {
    check(2, &[User, Hidden, said(1, 2), answer(3), said(1, 4)], Action::Dispatch(Seq(5)));
}

#[test]
fn an_interrupted_turn_goes_on_where_the_log_ends() {
    check(2, &[User, Hidden, said(2, 2), answer(3), Hidden], Action::Dispatch(Seq(3)));
    check(2, &[User, Hidden, Hidden], Action::Step);
    check(2, &[User, Hidden, said(0, 2), Hidden], Action::End(Ending::Completed));
}

#[test]
fn a_nudge_keeps_the_turn_going() {
    // Said while the model spoke: the log has it before the answer, whose request did not hold it.
    check(2, &[User, Hidden, User, said(0, 2)], Action::Step);
    check(2, &[User, Hidden, said(0, 2), User], Action::Step);
    check(2, &[User, Hidden, User, said(0, 2), said(0, 4)], Action::End(Ending::Completed));
    // Calls come first: their results must follow their message.
    check(2, &[User, Hidden, said(1, 2), User], Action::Dispatch(Seq(3)));
}

#[test]
fn input_that_a_failed_turn_left_unanswered_is_answered_by_the_next() {
    check(4, &[User, Hidden, Hidden, Hidden], Action::Step);
}

#[test]
fn the_last_request_of_a_turn_is_announced_once() {
    let before = [User, Hidden, said(1, 2), answer(3), said(1, 4), answer(5)];
    check(2, &before, Action::Warn);
    check(2, &[&before[..], &[Shown]].concat(), Action::Step);
    check(2, &[&before[..], &[Shown, said(1, 7)]].concat(), Action::Dispatch(Seq(8)));
    // Past the limit it is the host that says no.
    check(2, &[&before[..], &[Shown, said(1, 7), answer(8)]].concat(), Action::Step);
}

proptest! {
    /// Whatever a log holds, the model is not asked twice about the same log.
    #[test]
    fn an_answered_log_needs_no_step(log in prop::collection::vec(prop_oneof![
        Just(User), (1..9_u64).prop_map(answer), Just(Shown), Just(Hidden), (0..3_u32).prop_map(|calls| said(calls, 0)),
    ], 0..40)) {
        let mut view = View::new(Seq(1), 25);
        for role in [&[Hidden][..], &log].concat() {
            let tail = view.tail();
            view.fold(heading(tail.next(), match role { Role::Message { calls, .. } => said(calls, tail.0), other => other }));
        }
        if view.next() == Action::Step {
            let tail = view.tail();
            view.fold(heading(tail.next(), said(0, tail.0)));
            prop_assert_eq!(view.next(), Action::End(Ending::Completed));
        }
    }
}
