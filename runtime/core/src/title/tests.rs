use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::event::{Attachment, Source};
use crate::id::Digest;

fn message(text: &str, files: &[&str]) -> UserMessage {
    let file = |name: &&str| Attachment { name: (*name).to_owned(), media_type: "image/png".to_owned(), digest: Digest::of(b""), bytes: 0 };
    UserMessage { text: text.to_owned(), attachments: files.iter().map(file).collect(), source: Source::Api }
}

fn check(text: &str, files: &[&str], expected: &Expect) {
    expected.assert_eq(&title(&message(text, files)).unwrap_or_else(|| "(none)".to_owned()));
}

#[test]
fn the_first_line_that_says_something() {
    check("Fix the build\nIt fails since noon.", &["log.txt"], &expect!["Fix the build"]);
    check("\n  \n\tFix\u{0} the\u{1b}[31m   build \r\n", &[], &expect!["Fix the [31m build"]);
    check(" \n", &["", "holiday\nphoto.png", "b.png"], &expect!["holiday photo.png"]);
    check("", &[], &expect!["(none)"]);
}

#[test]
fn a_long_line_ends_with_a_word() {
    check(
        "123456789 123456789 123456789 123456789 123456789 123456789x",
        &[],
        &expect!["123456789 123456789 123456789 123456789 123456789 123456789x"],
    );
    check(
        "123456789 123456789 123456789 123456789 123456789 123456789x1",
        &[],
        &expect!["123456789 123456789 123456789 123456789 123456789…"],
    );
    check(
        "123456789 123456789 123456789 123456789 123456789 123456789 1",
        &[],
        &expect!["123456789 123456789 123456789 123456789 123456789 123456789…"],
    );
    check(&"ä".repeat(61), &[], &expect!["äääääääääääääääääääääääääääääääääääääääääääääääääääääääääää…"]);
}

proptest! {
    #[test]
    fn a_title_is_one_short_line(text in any::<String>(), file in any::<String>()) {
        if let Some(title) = title(&message(&text, &[&file])) {
            prop_assert!((1..=CHARACTERS).contains(&title.chars().count()));
            prop_assert!(!title.chars().any(char::is_control));
            prop_assert_eq!(title.trim(), &title);
        }
    }
}
