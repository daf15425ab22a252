//! Guests that misuse what the host gives everyone: clocks, randomness, handles.

use std::time::Duration;

use thetis_core::outcome::{Clock, Limit, Outcome};
use thetis_runtime::limits::Bounds;

use crate::fixture::{Host, REALLOC, assemble, module, tight};

/// A component whose module imports `functions` of the instance `host`, made by the core definitions in `lowered`.
fn importing(imports: &str, lowered: &str, with: &str, functions: &str, body: &str) -> Vec<u8> {
    let memory = format!("{functions} (memory (export \"memory\") 2)");
    let module = module(&memory, REALLOC, "", body);
    assemble(imports, &format!("{lowered} {module} (core instance $instance (instantiate $module (with \"host\" (instance {with}))))"))
}

/// Clocks and polling.
fn clocks(functions: &str, body: &str) -> Vec<u8> {
    let imports = r#"
        (import "wasi:io/poll@0.2.0" (instance $poll
            (export "pollable" (type $pollable (sub resource)))
            (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
        (alias export $poll "pollable" (type $pollable))
        (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
            (alias outer 1 $pollable (type $outer))
            (export "pollable" (type $pollable (eq $outer)))
            (export "now" (func (result u64)))
            (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))"#;
    let lowered = r#"
        (core func $now (canon lower (func $clock "now")))
        (core func $subscribe (canon lower (func $clock "subscribe-duration")))
        (core func $block (canon lower (func $poll "[method]pollable.block")))
        (core func $drop (canon resource.drop $pollable))"#;
    let with = r#"(export "now" (func $now)) (export "subscribe" (func $subscribe)) (export "block" (func $block))
        (export "drop" (func $drop))"#;
    importing(imports, lowered, with, functions, body)
}

/// Sleeps for a tenth of a millisecond, again and again.
pub fn sleeper() -> Vec<u8> {
    let functions = r#"
        (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
        (import "host" "block" (func $block (param i32)))
        (import "host" "drop" (func $drop (param i32)))
        (global $pollable (mut i32) (i32.const 0))"#;
    let body = r"
        (loop $again
            (global.set $pollable (call $subscribe (i64.const 100000)))
            (call $block (global.get $pollable))
            (call $drop (global.get $pollable))
            (br $again))
        unreachable";
    clocks(functions, body)
}

#[tokio::test]
async fn a_million_handles_of_the_hosts_are_over_the_limit() {
    let functions = r#"(import "host" "subscribe" (func $subscribe (param i64) (result i32)))"#;
    let hostile = clocks(functions, "(loop $again (drop (call $subscribe (i64.const 1000000000))) (br $again)) unreachable");
    assert_eq!(Host::new().survives(hostile, &tight()).await, Outcome::OverLimit(Limit::Handles));
}

#[tokio::test]
async fn a_million_handles_of_its_own_are_over_the_limit() {
    let lowered = "(type $own (resource (rep i32))) (core func $new (canon resource.new $own))";
    let hostile = importing(
        "",
        lowered,
        r#"(export "new" (func $new))"#,
        r#"(import "host" "new" (func $new (param i32) (result i32)))"#,
        "(loop $again (drop (call $new (i32.const 1))) (br $again)) unreachable",
    );
    assert_eq!(Host::new().survives(hostile, &tight()).await, Outcome::OverLimit(Limit::Handles));
}

#[tokio::test]
async fn a_guest_that_calls_the_host_for_ever_uses_up_its_budget_and_not_its_slice() {
    let hostile = clocks(r#"(import "host" "now" (func $now (result i64)))"#, "(loop $again (drop (call $now)) (br $again)) unreachable");
    let bounds = Bounds { budget: Duration::from_millis(400), slice: Duration::from_millis(50), ..tight() };
    assert_eq!(Host::new().survives(hostile, &bounds).await, Outcome::TimedOut(Clock::Budget));
}

#[tokio::test]
async fn a_guest_that_sleeps_uses_up_its_budget() {
    let bounds = Bounds { budget: Duration::from_millis(200), ..tight() };
    assert_eq!(Host::new().survives(sleeper(), &bounds).await, Outcome::TimedOut(Clock::Budget));
}

#[tokio::test]
async fn random_bytes_come_in_reasonable_numbers() {
    let imports = r#"(import "wasi:random/random@0.2.0" (instance $random
        (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))"#;
    let lowered = format!(
        r#"(core module $library (memory (export "memory") 2) {REALLOC})
        (core instance $library (instantiate $library))
        (core func $bytes (canon lower (func $random "get-random-bytes")
            (memory (core memory $library "memory")) (realloc (core func $library "cabi_realloc"))))"#
    );
    let ask = |bytes: u64| {
        importing(
            imports,
            &lowered,
            r#"(export "bytes" (func $bytes))"#,
            r#"(import "host" "bytes" (func $bytes (param i64 i32)))"#,
            &format!("(call $bytes (i64.const {bytes}) (i32.const 0)) (call $answer (i32.const 64) (i32.const 3))"),
        )
    };
    let host = Host::new();
    assert_eq!(host.survives(ask(65536), &tight()).await, Outcome::Answered("odd".to_owned()));
    assert_eq!(host.survives(ask(65537), &tight()).await, Outcome::OverLimit(Limit::HostCall));
    assert_eq!(host.survives(ask(u64::MAX / 2), &tight()).await, Outcome::OverLimit(Limit::HostCall));
}
