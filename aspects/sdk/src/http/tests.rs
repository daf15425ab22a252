//! Which URLs a request may name.

use super::*;

#[test]
fn urls_that_can_be_asked_for() {
    for (url, secure, authority, path) in [
        ("https://example.org", true, "example.org", "/"),
        ("HTTP://example.org:8080?q=1", false, "example.org:8080", "/?q=1"),
        ("https://example.org/a/b?c=/d#e?f", true, "example.org", "/a/b?c=/d"),
        ("http://[::1]:80/x", false, "[::1]:80", "/x"),
    ] {
        assert_eq!(Url::parse(url), Ok(Url { secure, authority, path: path.to_owned() }), "{url}");
    }
}

#[test]
fn urls_that_cannot() {
    for (url, why) in [
        ("example.org", "it has to begin with https:// or http://"),
        ("file:///etc/passwd", "it has to begin with https:// or http://"),
        ("https:///path", "it names no host"),
        ("https://#example.org", "it names no host"),
        ("https://allowed.org@evil.org/", "a user name or password does not belong there"),
        ("https://allowed.org\\@evil.org/", "a user name or password does not belong there"),
        ("https://example.org/a b", "white space has to be written as %20"),
        ("https://example.org/\r\nhost: x", "white space has to be written as %20"),
    ] {
        let error = Url::parse(url).unwrap_err();
        assert!(error.ends_with(why), "{error}");
    }
}
