//! When room is made, and how much.

use thetis_core::id::{Seq, SeqRange};
use thetis_core::outline::Role;

use super::*;

/// A user's message and `rounds` messages of the model, each of 100 bytes.
fn log(rounds: u64) -> Vec<Heading> {
    let heading = |seq, role| Heading { seq: Seq(seq), turn: None, role, bytes: 100 };
    let message = |seq| heading(seq, Role::Message { calls: 0, through: Seq(seq - 1) });
    [heading(1, Role::User)].into_iter().chain((2..rounds + 2).map(message)).collect()
}

#[test]
fn a_history_that_fits_is_left_alone() {
    assert_eq!(plan(&log(19), 2000), None);
}

#[test]
fn one_that_does_not_is_halved() {
    let plan = plan(&log(20), 2000).unwrap();
    assert_eq!(plan.spans, [SeqRange { first: Seq(3), last: Seq(13) }]);
}

#[test]
fn head_and_tail_stay_however_small_the_room() {
    assert_eq!(plan(&log(6), 10).unwrap().spans, [SeqRange { first: Seq(3), last: Seq(3) }]);
    assert_eq!(plan(&log(5), 10), None);
}

#[test]
fn what_every_request_carries_is_not_room() {
    let tool = Description {
        name: "ab".to_owned(),
        description: "c".repeat(10),
        input_schema: "{}".to_owned(),
        mutating: false,
        parallel: false,
        replay: thetis_sdk::agent::tools::Replay::Safe,
        aspect: "tool/ab".to_owned(),
    };
    assert_eq!(bytes(1000, &[], &[]), 2250);
    assert_eq!(bytes(1000, &["x".repeat(200), "y".to_owned()], &[tool]), 2250 - 201 - 14);
    assert_eq!(bytes(10, &["x".repeat(200)], &[]), 0);
    assert_eq!(bytes(u64::MAX, &[], &[]), u64::MAX - u64::MAX / 4);
}

#[test]
fn a_summary_is_a_part_of_the_room() {
    assert_eq!([0, 20_000, u64::MAX].map(summary), [1 << 10, 5_000, 16 << 10]);
}
