use expect_test::{Expect, expect};

use super::*;

fn printed(picodollars: u64, expected: &Expect) {
    expected.assert_eq(&Cost(picodollars).to_string());
}

#[test]
fn costs_are_dollars_to_a_hundredth_of_a_cent() {
    printed(0, &expect!["$0.0000"]);
    printed(49_999_999, &expect!["$0.0000"]);
    printed(50_000_000, &expect!["$0.0001"]);
    printed(10_600_000_000, &expect!["$0.0106"]);
    printed(999_950_000_000, &expect!["$1.0000"]);
    printed(12_345_600_000_000, &expect!["$12.3456"]);
    printed(u64::MAX, &expect!["$18446744.0737"]);
}

#[test]
fn tokens_cost_what_the_prices_say() {
    // Dollars per million tokens: 5 in, 0.50 from the cache, 6.25 into it, 25 out.
    let prices = Prices { input: 5_000_000, cache_read: 500_000, cache_write: 6_250_000, output: 25_000_000 };
    let usage = Usage { steps: 3, input: 1_000, cache_read: 20_000, cache_write: 400, output: 300, cost: Cost(0) };
    assert_eq!(usage.priced(&prices), Cost(5_000_000_000 + 10_000_000_000 + 2_500_000_000 + 7_500_000_000));
}

#[test]
fn nonsense_saturates() {
    let most = Usage { steps: u32::MAX, input: u64::MAX, cache_read: 1, cache_write: 2, output: 3, cost: Cost(u64::MAX) };
    let sum = most.plus(Usage { steps: 1, input: 1, cache_read: 10, cache_write: 20, output: 30, cost: Cost(1) });
    assert_eq!(sum, Usage { cache_read: 11, cache_write: 22, output: 33, ..most });
    let prices = Prices { input: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX, output: u64::MAX };
    assert_eq!(most.priced(&prices), Cost(u64::MAX));
}
