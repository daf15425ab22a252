//! Every way we know for a guest to misbehave ends in the outcome that names it, and hurts nobody else.

use std::time::Duration;

use thetis_core::outcome::{Clock, Limit, Outcome};
use thetis_runtime::limits::Bounds;

use crate::fixture::{Host, REALLOC, component, module, tight, tool};

async fn check(hostile: Vec<u8>, expected: Outcome<String>) {
    assert_eq!(Host::new().survives(hostile, &tight()).await, expected);
}

async fn check_trap(hostile: Vec<u8>, expected: &str) {
    match Host::new().survives(hostile, &tight()).await {
        Outcome::Trapped(text) => assert!(text.contains(expected), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_honest_tool_answers() {
    Host::new().is_healthy().await;
}

#[tokio::test]
async fn a_trap_is_the_guests() {
    check_trap(tool("", "unreachable"), "unreachable").await;
}

#[tokio::test]
async fn a_tight_loop_uses_up_its_slice() {
    check(tool("", "(loop $again (br $again)) unreachable"), Outcome::TimedOut(Clock::Slice)).await;
}

#[tokio::test]
async fn a_loop_in_the_start_function_uses_up_its_slice() {
    let start = "(func $spin (loop $again (br $again))) (start $spin)";
    check(tool(start, "unreachable"), Outcome::TimedOut(Clock::Slice)).await;
}

#[tokio::test]
async fn a_loop_while_the_host_hands_over_arguments_uses_up_its_slice() {
    let realloc = r#"(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop $again (br $again)) unreachable)"#;
    let hostile = component(&module("(memory (export \"memory\") 1)", realloc, "", "unreachable"));
    check(hostile, Outcome::TimedOut(Clock::Slice)).await;
}

#[tokio::test]
async fn recursion_without_end_is_over_the_stack() {
    let items = "(func $deeper (param i32) (result i32) (i32.add (call $deeper (local.get 0)) (i32.const 1)))";
    check(tool(items, "(call $deeper (i32.const 0))"), Outcome::OverLimit(Limit::Stack)).await;
}

#[tokio::test]
async fn memory_that_is_denied_and_missed_is_over_the_limit() {
    let body = "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    check(tool("", body), Outcome::OverLimit(Limit::Memory)).await;
}

#[tokio::test]
async fn memory_that_is_denied_and_not_missed_is_nobodys_business() {
    let body = "(drop (memory.grow (i32.const 60000))) (call $answer (i32.const 64) (i32.const 3))";
    check(tool("", body), Outcome::Answered("odd".to_owned())).await;
}

#[tokio::test]
async fn a_guest_that_starts_larger_than_it_may_be_is_over_the_limit() {
    let hostile = component(&module("(memory (export \"memory\") 2000)", REALLOC, "", "unreachable"));
    check(hostile, Outcome::OverLimit(Limit::Memory)).await;
}

#[tokio::test]
async fn a_table_that_is_denied_and_missed_is_over_the_limit() {
    let items = "(table $table 1 funcref)";
    let body = "(loop $more (br_if $more (i32.ne (table.grow $table (ref.null func) (i32.const 1000)) (i32.const -1)))) unreachable";
    check(tool(items, body), Outcome::OverLimit(Limit::Table)).await;
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_over_the_output_limit() {
    let host = Host::new();
    let body = "(call $answer (i32.const 8192) (i32.const 100000))";
    let bounds = Bounds { output: 99_999, ..tight() };
    assert_eq!(host.survives(tool("", body), &bounds).await, Outcome::OverLimit(Limit::Output));
    let bounds = Bounds { output: 100_000, ..tight() };
    assert!(matches!(host.survives(tool("", body), &bounds).await, Outcome::Answered(_)));
}

#[tokio::test]
async fn an_answer_outside_memory_is_a_trap() {
    check_trap(tool("", "(call $answer (i32.const 0) (i32.const 2000000000))"), "out of bounds").await;
}

#[tokio::test]
async fn an_answer_that_is_not_text_is_a_trap() {
    let body = "(i32.store8 (i32.const 200) (i32.const 255)) (call $answer (i32.const 200) (i32.const 1))";
    check_trap(tool("", body), "utf-8").await;
}

#[tokio::test]
async fn an_answer_larger_than_the_host_copies_is_over_the_output_limit() {
    let body = "(drop (memory.grow (i32.const 800))) (call $answer (i32.const 0) (i32.const 50000000))";
    check(tool("", body), Outcome::OverLimit(Limit::Output)).await;
}

#[tokio::test]
async fn the_budget_ends_a_call_that_keeps_calling() {
    let host = Host::new();
    let bounds = Bounds { budget: Duration::from_millis(200), slice: Duration::from_mins(1), ..tight() };
    let outcome = host.survives(tool("", "(loop $again (br $again)) unreachable"), &bounds).await;
    assert_eq!(outcome, Outcome::TimedOut(Clock::Budget));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_spinners_do_not_stop_the_others() {
    let host = std::sync::Arc::new(Host::new());
    let spinner = host.know(tool("", "(loop $again (br $again)) unreachable"));
    let echo = host.know(crate::fixture::echo());
    let bounds = Bounds { slice: Duration::from_millis(100), ..tight() };
    let spinners: Vec<_> = (0..64)
        .map(|_| {
            let host = std::sync::Arc::clone(&host);
            tokio::spawn(async move { host.call(spinner, "", &bounds).await })
        })
        .collect();
    for number in 0..20 {
        let outcome = host.call(echo, &number.to_string(), &tight()).await;
        assert_eq!(outcome, Outcome::Answered(number.to_string()));
    }
    assert!(spinners.iter().any(|spinner| !spinner.is_finished()), "the healthy calls came to their turn among the spinners");
    for spinner in spinners {
        assert_eq!(spinner.await.unwrap(), Outcome::TimedOut(Clock::Slice));
    }
    host.is_healthy().await;
}
