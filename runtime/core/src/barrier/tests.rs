use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::runs;

/// `p` may have company, `s` runs alone.
fn check(calls: &str, expected: &Expect) {
    let parallel: Vec<bool> = calls.chars().map(|call| call == 'p').collect();
    let cut: Vec<&str> = runs(&parallel).into_iter().map(|run| &calls[run]).collect();
    expected.assert_eq(&cut.join(" "));
}

#[test]
fn neighbours_that_allow_company_share_a_run() {
    check("", &expect![""]);
    check("p", &expect!["p"]);
    check("s", &expect!["s"]);
    check("ss", &expect!["s s"]);
    check("ppp", &expect!["ppp"]);
    check("ppspps", &expect!["pp s pp s"]);
    check("spsp", &expect!["s p s p"]);
}

proptest! {
    #[test]
    fn runs_keep_the_order_and_are_maximal(parallel in prop::collection::vec(any::<bool>(), 0..40)) {
        let runs = runs(&parallel);
        let calls: Vec<usize> = runs.iter().cloned().flatten().collect();
        prop_assert_eq!(calls, (0..parallel.len()).collect::<Vec<_>>());
        for run in &runs {
            prop_assert!(!run.is_empty());
            prop_assert!(run.len() == 1 || parallel[run.clone()].iter().all(|parallel| *parallel));
        }
        for pair in runs.windows(2) {
            prop_assert!(!(parallel[pair[0].start] && parallel[pair[1].start]), "two parallel runs meet");
        }
    }
}
