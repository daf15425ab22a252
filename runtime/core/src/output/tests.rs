use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn check(text: &str, limit: usize, expected: &Expect) {
    expected.assert_eq(&shorten(text, limit).map_or_else(|| "fits".to_owned(), |short| format!("{short:?}")));
}

#[test]
fn head_and_tail_stay() {
    let text = "The beginning of it all, some middle that nobody needs to read, and the end.";
    check(text, 76, &expect!["fits"]);
    check(text, 75, &expect![[r#""The beginning of it all\n[… 30 bytes left out …]\ns to read, and the end.""#]]);
    check(text, 50, &expect![[r#""The beginni\n[… 55 bytes left out …]\nd the end.""#]]);
    check(text, 10, &expect![[r#""The beginn""#]]);
    check(text, 0, &expect![[r#""""#]]);
    check(&"ä".repeat(100), 65, &expect![[r#""äääääääää\n[… 166 bytes left out …]\nääääääää""#]]);
}

proptest! {
    #[test]
    fn no_more_than_the_limit_and_nothing_made_up(text in any::<String>(), limit in 0..200_usize) {
        let text = text.repeat(8);
        match shorten(&text, limit) {
            None => prop_assert!(text.len() <= limit),
            Some(short) => {
                prop_assert!(short.len() <= limit);
                let (head, tail) = short.split_once("\n[… ").map_or((short.as_str(), ""), |(head, rest)| {
                    (head, rest.split_once(" left out …]\n").map_or("", |(_, tail)| tail))
                });
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
            }
        }
    }
}
