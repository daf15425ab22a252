//! Which [`Outcome`] a failed call has. No IO.

use thetis_core::outcome::{Clock, Limit, Outcome};
use wasmtime::component::ResourceTableError;
use wasmtime::{PoolConcurrencyLimitError, Trap, WasmBacktrace};

use super::Ctx;
use crate::host::wasi::Exited;
use crate::limits::{Exceeded, Fault, Spent};

/// The longest text of a trap, in bytes.
const MAX_TEXT_BYTES: usize = 8 << 10;

/// What wasmtime says, in words only, when one call to the host would copy more than it may.
const HOST_CALL_WORDS: &str = "fuel allocated for hostcalls has been exhausted";

/// What wasmtime says, in words only, when a guest has made too many handles of its own resources.
const HANDLE_WORDS: &str = "store handle limit exceeded";

/// How a call that ended with `error` ended. Whatever is not known to be ours or a limit is the guest's.
pub(super) fn outcome<T>(error: &wasmtime::Error, ctx: &mut Ctx) -> Outcome<T> {
    if let Some(fault) = error.downcast_ref::<Fault>() {
        return Outcome::HostFault(chain(fault));
    }
    if let Some(full) = error.downcast_ref::<PoolConcurrencyLimitError>() {
        return Outcome::HostFault(full.to_string());
    }
    if let Some(Spent(clock)) = error.downcast_ref::<Spent>() {
        return Outcome::TimedOut(*clock);
    }
    match limit(error, ctx) {
        Some(limit) => Outcome::OverLimit(limit),
        None => Outcome::Trapped(text(error, ctx)),
    }
}

/// The call's budget ran out.
pub(super) const fn out_of_budget<T>() -> Outcome<T> {
    Outcome::TimedOut(Clock::Budget)
}

fn limit(error: &wasmtime::Error, ctx: &mut Ctx) -> Option<Limit> {
    if let Some(Exceeded(limit)) = error.downcast_ref::<Exceeded>() {
        return Some(*limit);
    }
    if matches!(error.downcast_ref::<ResourceTableError>(), Some(ResourceTableError::Full)) {
        return Some(Limit::Handles);
    }
    if matches!(error.downcast_ref::<Trap>(), Some(Trap::StackOverflow)) {
        return Some(Limit::Stack);
    }
    let words = error.root_cause().to_string();
    if words.contains(HOST_CALL_WORDS) {
        // The same words when the answer is copied; by then no frame of the guest is left to be named.
        let answering = error.downcast_ref::<WasmBacktrace>().is_none();
        return Some(if answering { Limit::Output } else { Limit::HostCall });
    }
    if words.contains(HANDLE_WORDS) {
        return Some(Limit::Handles);
    }
    ctx.held().denied()
}

/// For people, and for the agent that wrote the guest: what happened, where, and what the guest printed last.
fn text(error: &wasmtime::Error, ctx: &mut Ctx) -> String {
    let mut text = match error.downcast_ref::<Exited>() {
        Some(exited) => exited.to_string(),
        None => error.root_cause().to_string(),
    };
    let printed = ctx.wasi().printed();
    if !printed.is_empty() {
        text.push_str("\nprinted:\n");
        text.push_str(&printed);
    }
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        text.push_str("\nat:\n");
        text.push_str(&backtrace.to_string());
    }
    cut(&mut text, MAX_TEXT_BYTES);
    text
}

fn cut(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push('…');
    }
}

/// The error and its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
