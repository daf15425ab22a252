use expect_test::{Expect, expect};

use super::*;
use crate::event::{Attachment, Source};
use crate::id::Digest;

fn verdict(text: &str, files: usize, expected: &Expect) {
    let file = Attachment { name: "a.png".to_owned(), media_type: "image/png".to_owned(), digest: Digest::of(b""), bytes: 1 };
    let message = UserMessage { text: text.to_owned(), attachments: vec![file; files], source: Source::Api };
    expected.assert_eq(&check(&message, 10).map_or_else(|error| error.to_string(), |()| "taken".to_owned()));
}

#[test]
fn some_text_but_not_too_much() {
    verdict("1234567890", 0, &expect!["taken"]);
    verdict("1234567890x", 0, &expect!["the message has 11 bytes; this conversation takes at most 10"]);
    verdict("ääääää", 0, &expect!["the message has 12 bytes; this conversation takes at most 10"]);
    verdict("", 0, &expect!["the message is empty"]);
    verdict(" \n\t\u{3000}", 0, &expect!["the message is empty"]);
    verdict("", 1, &expect!["taken"]);
    verdict("ab\0c", 1, &expect!["the message holds a NUL character, at byte 2: it is not text"]);
}
