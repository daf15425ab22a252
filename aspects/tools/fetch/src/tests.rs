//! What the model is shown of an answer.

use super::*;

fn response(kind: Option<&str>, body: &[u8], cut: bool) -> Response {
    let headers = kind.map(|kind| ("content-type".to_owned(), kind.as_bytes().to_vec()));
    Response { status: 200, headers: headers.into_iter().collect(), body: body.to_vec(), cut }
}

fn check(kind: Option<&str>, body: &[u8], cut: bool, shown: &str) {
    assert_eq!(show(&response(kind, body, cut)).split_once("\n\n").unwrap().1, shown);
}

#[test]
fn the_head_says_what_to_do_next() {
    let headers = [("location", "/there"), ("set-cookie", "secret"), ("content-type", "text/html")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())).to_vec();
    let response = Response { status: 302, headers, body: vec![], cut: false };
    assert_eq!(show(&response), "HTTP status 302\ncontent-type: text/html\nlocation: /there\n\n");
}

#[test]
fn text_is_shown_and_anything_else_is_named() {
    check(Some("text/html"), "<p>é".as_bytes(), false, "<p>é");
    check(Some("application/json"), b"{}", false, "{}");
    check(None, b"plain", false, "plain");
    check(Some("image/png"), b"\x89PNG\0", false, "(not text: 5 bytes)");
    check(Some("application/octet-stream"), b"a\0b", false, "(not text: 3 bytes)");
    check(Some("text/plain; charset=iso-8859-1"), b"caf\xe9", false, "caf\u{fffd}");
}

#[test]
fn a_cut_within_a_character_loses_that_character_only() {
    check(Some("application/json"), &"né".as_bytes()[..2], true, "n\n\n(cut: the answer goes on beyond 262144 bytes)");
    check(Some("application/json"), &"né".as_bytes()[..2], false, "(not text: 2 bytes)");
}
