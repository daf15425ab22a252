use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{micro, pico};

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&match micro(text) {
        Ok(micro) => micro.to_string(),
        Err(what) => what.to_string(),
    });
}

#[test]
fn decimals_are_read_exactly() {
    check("3", &expect!["3000000"]);
    check("0.15", &expect!["150000"]);
    check("0.000001", &expect!["1"]);
    check("18446744073709", &expect!["18446744073709000000"]);
}

#[test]
fn anything_else_is_refused() {
    let refused = ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0.0000001", "18446744073710", "٣", "1.5.2", " 1"];
    for text in refused {
        assert_eq!(micro(text), Err(crate::What::NotDollars(text.to_owned())));
    }
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(micros in 0..=u64::MAX / 1_000_000) {
        let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        prop_assert_eq!(micro(&text).ok(), Some(micros));
        prop_assert_eq!(pico(&text).ok(), Some(micros * 1_000_000));
    }

    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = pico(&text);
    }
}
