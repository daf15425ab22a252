//! How much history fits the model's context, and when to make room. Pure.

use thetis_core::compaction::{self, Keep, Plan};
use thetis_core::outline::Heading;
use thetis_sdk::agent::tools::Description;

#[cfg(test)]
mod tests;

/// What a token holds of the texts that take the most tokens: code and JSON. Prose has about four bytes a token.
const TOKEN_BYTES: u64 = 3;

const LEAST_SUMMARY: usize = 1 << 10;
const MOST_SUMMARY: usize = 16 << 10;

/// Bytes of history that a request has room for, beside the system prompt, the tools, and a quarter of the context for the
/// model's answer.
pub fn bytes(context_tokens: u64, system: &[String], tools: &[Description]) -> u64 {
    let system = system.iter().map(String::len).fold(0, usize::saturating_add);
    let tools = tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.len());
    let fixed = u64::try_from(tools.fold(system, usize::saturating_add)).unwrap_or(u64::MAX);
    let context = context_tokens.saturating_mul(TOKEN_BYTES);
    (context - context / 4).saturating_sub(fixed)
}

/// Bytes of the summary that is to take the place of much of `room`: a quarter, so that with what the plan leaves it fits, and
/// never more than what is about 5,000 tokens.
pub fn summary(room: u64) -> usize {
    usize::try_from(room / 4).map_or(MOST_SUMMARY, |quarter| quarter.clamp(LEAST_SUMMARY, MOST_SUMMARY))
}

/// What to summarise so that the history fits `room` with half of it to spare, where it no longer fits. A summary changes the
/// start of the history, which the provider's cache then holds no more: hence rarely, and much at a time.
pub fn plan(outline: &[Heading], room: u64) -> Option<Plan> {
    let keep = Keep { head: 1, tail: 4, target: room };
    compaction::plan(outline, keep)?;
    compaction::plan(outline, Keep { target: room / 2, ..keep })
}
