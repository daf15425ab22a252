//! The real guests of `aspects/`, built by `make aspects`: the hostile fixture in every way it knows, and requests that go
//! where they may and nowhere else.

use std::time::Duration;

use thetis_core::outcome::{Clock, Limit, Outcome};
use thetis_core::settings::{AspectKind, Grants};
use thetis_core::tool::Replay;
use thetis_runtime::guest::Target;
use thetis_runtime::limits::Bounds;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::fixture::{Host, aspect, tight};

async fn misbehaves(how: &str, bounds: &Bounds) -> Outcome<String> {
    let host = Host::new();
    let hostile = host.know(aspect("fixture-hostile"));
    let outcome = host.call(hostile, &format!(r#"{{"how":"{how}"}}"#), bounds).await;
    host.is_healthy().await;
    outcome
}

async fn check(how: &str, expected: Outcome<String>) {
    assert_eq!(misbehaves(how, &tight()).await, expected);
}

async fn check_trap(how: &str, expected: &[&str]) {
    match misbehaves(how, &tight()).await {
        Outcome::Trapped(text) => expected.iter().for_each(|part| assert!(text.contains(part), "{text}")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn traps_say_what_happened_and_what_was_printed() {
    check_trap("trap", &["unreachable"]).await;
    check_trap("panic", &["unreachable", "printed:", "panicked at"]).await;
    check_trap("exit", &["exited with status"]).await;
}

#[tokio::test]
async fn time_runs_out() {
    let host_calls = Bounds { budget: Duration::from_millis(500), ..tight() };
    check("spin", Outcome::TimedOut(Clock::Slice)).await;
    assert_eq!(misbehaves("spin-host", &host_calls).await, Outcome::TimedOut(Clock::Budget));
    assert_eq!(misbehaves("sleep", &host_calls).await, Outcome::TimedOut(Clock::Budget));
}

#[tokio::test]
async fn room_runs_out() {
    check("recurse", Outcome::OverLimit(Limit::Stack)).await;
    // Touching that much takes its time.
    let patient = Bounds { slice: Duration::from_secs(10), ..tight() };
    assert_eq!(misbehaves("memory", &patient).await, Outcome::OverLimit(Limit::Memory));
    check("handles", Outcome::OverLimit(Limit::Handles)).await;
    check("random", Outcome::OverLimit(Limit::HostCall)).await;
    check("stdout", Outcome::OverLimit(Limit::Output)).await;
}

#[tokio::test]
async fn answers_and_errors_are_bounded() {
    let roomy = Bounds { memory: 256 << 20, slice: Duration::from_secs(10), ..tight() };
    assert_eq!(misbehaves("result", &roomy).await, Outcome::OverLimit(Limit::Output));
    assert_eq!(misbehaves("error", &roomy).await, Outcome::OverLimit(Limit::Output));
}

#[tokio::test]
async fn a_tool_answers_and_refuses_in_its_own_words() {
    let host = Host::new();
    let calculate = host.know(aspect("tool-calculate"));
    let answer = host.call(calculate, r#"{"expression":"6*7"}"#, &Bounds::default()).await;
    assert_eq!(answer, Outcome::Answered("42".to_owned()));
    assert!(matches!(host.call(calculate, r#"{"expression":"6*"}"#, &Bounds::default()).await, Outcome::Refused(_)));
    assert!(matches!(host.call(calculate, "no JSON", &Bounds::default()).await, Outcome::Refused(_)));
    host.is_healthy().await;
}

#[tokio::test]
async fn manifests_are_read_and_bad_ones_refused() {
    let host = Host::new();
    let manifest = async |name: &str, grants: &Grants| {
        let component = host.know(aspect(name));
        host.guests.tool_manifest(Target { component, kind: AspectKind::Tool, grants }, &Bounds::default()).await
    };
    let none = Grants::default();
    let Outcome::Answered(slow) = manifest("fixture-slow", &none).await else { panic!("no manifest") };
    assert_eq!((slow.name.as_str(), slow.replay, slow.mutating), ("slow", Replay::Safe, false));
    assert!(slow.input_schema.is_object());
    for (name, rule) in [("fixture-bad-name", "name"), ("fixture-bad-schema", "schema")] {
        match manifest(name, &none).await {
            Outcome::Refused(text) => assert!(text.contains(rule), "{text}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// Answers every connection with `answer` and hands over the heads of the requests.
async fn serve(answer: &'static str) -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heads, seen) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            let _ = heads.send(String::from_utf8_lossy(&head).into_owned());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (port, seen)
}

async fn fetch(egress: &str, url: &str) -> Outcome<String> {
    let host = Host::new();
    let fetch = host.know(aspect("tool-fetch"));
    let grants = Grants { notes: false, egress: vec![egress.to_owned()] };
    let outcome = host.call_granted(fetch, &grants, &format!(r#"{{"url":"{url}"}}"#), &tight()).await;
    host.is_healthy().await;
    outcome
}

#[tokio::test]
async fn a_request_goes_to_the_host_that_is_granted() {
    let (port, mut seen) = serve("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello").await;
    let outcome = fetch(&format!("127.0.0.1:{port}"), &format!("http://127.0.0.1:{port}/a?b=c")).await;
    let Outcome::Answered(text) = outcome else { panic!("{outcome:?}") };
    assert!(text.contains("200") && text.ends_with("hello"), "{text}");
    let head = seen.recv().await.unwrap();
    assert!(head.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: 127.0.0.1:{port}\r\n")), "{head}");
}

#[tokio::test]
async fn a_request_to_any_other_host_never_leaves() {
    let (port, mut seen) = serve("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    for (egress, url) in [
        ("example.org".to_owned(), format!("http://127.0.0.1:{port}/")),
        (format!("127.0.0.1:{port}"), format!("http://localhost:{port}/")),
        (format!("127.0.0.2:{port}"), format!("http://127.0.0.1:{port}/")),
        ("127.0.0.1:1".to_owned(), format!("http://127.0.0.1:{port}/")),
        ("127.0.0.1".to_owned(), format!("http://127.0.0.1:{port}/")),
    ] {
        let outcome = fetch(&egress, &url).await;
        assert!(matches!(outcome, Outcome::Refused(_)), "{egress} {url}: {outcome:?}");
    }
    assert!(seen.try_recv().is_err());
}

#[tokio::test]
async fn localhost_is_reached_where_it_is_granted_by_that_name() {
    let (port, _seen) = serve("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let outcome = fetch(&format!("localhost:{port}"), &format!("http://localhost:{port}/")).await;
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
}

#[tokio::test]
async fn an_answer_that_is_no_http_is_an_error_of_the_guests() {
    for answer in ["", "garbage", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort"] {
        let (port, _seen) = serve(answer).await;
        let outcome = fetch(&format!("127.0.0.1:{port}"), &format!("http://127.0.0.1:{port}/")).await;
        assert!(matches!(outcome, Outcome::Refused(_)), "{answer:?}: {outcome:?}");
    }
    let (port, _seen) = serve("not TLS either").await;
    let outcome = fetch(&format!("127.0.0.1:{port}"), &format!("https://127.0.0.1:{port}/")).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
}

#[tokio::test]
async fn an_answer_with_too_many_headers_is_an_error_of_the_guests() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        for number in 0..40_000 {
            if stream.write_all(format!("x-{number}: 1\r\n").as_bytes()).await.is_err() {
                return;
            }
        }
        let _ = stream.write_all(b"\r\n").await;
    });
    let outcome = fetch(&format!("127.0.0.1:{port}"), &format!("http://127.0.0.1:{port}/")).await;
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
}
