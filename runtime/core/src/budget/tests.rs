use expect_test::{Expect, expect};

use super::*;

fn verdict(steps: u32, spent: u64, limit: Option<u64>, expected: &Expect) {
    let limits = Limits { steps: 25, spend: limit, ..Limits::default() };
    let turn = Usage { steps, ..Usage::default() };
    let conversation = Usage { steps: 1000, cost: Cost(spent), ..Usage::default() };
    let verdict = check(&limits, &turn, &conversation);
    expected.assert_eq(&verdict.map_or_else(|used_up| used_up.to_string(), |()| "goes on".to_owned()));
}

#[test]
fn a_turn_has_steps_and_a_conversation_has_money() {
    const DOLLAR: u64 = 1_000_000_000_000;
    verdict(24, u64::MAX, None, &expect!["goes on"]);
    verdict(25, 0, None, &expect!["the turn has made its 25 model requests"]);
    verdict(26, 0, None, &expect!["the turn has made its 25 model requests"]);
    verdict(0, DOLLAR - 1, Some(DOLLAR), &expect!["goes on"]);
    verdict(0, DOLLAR, Some(DOLLAR), &expect!["the conversation has spent $1.0000 of its $1.0000"]);
    verdict(0, 0, Some(0), &expect!["the conversation has spent $0.0000 of its $0.0000"]);
}
