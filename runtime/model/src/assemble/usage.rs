//! What a step used, from what providers say of it. Pure and lenient: nonsense counts as nothing.

use serde_json::Value;
use thetis_core::settings::Prices;
use thetis_core::usage::{Cost, Usage};

/// Names of the tokens that the cache held: OpenRouter and OpenAI; LiteLLM; DeepSeek.
const CACHE_READ: [&str; 3] = ["/prompt_tokens_details/cached_tokens", "/cache_read_input_tokens", "/prompt_cache_hit_tokens"];
/// Names of the tokens that were written to the cache: OpenRouter and OpenAI; LiteLLM.
const CACHE_WRITE: [&str; 2] = ["/prompt_tokens_details/cache_write_tokens", "/cache_creation_input_tokens"];

/// The usage of one step. `prompt_tokens` counts cached tokens too; the log counts each token once.
pub(super) fn read(said: &Value, prices: &Prices) -> Usage {
    let count = |names: &[&str]| names.iter().find_map(|name| said.pointer(name)?.as_u64()).unwrap_or(0);
    let prompt = count(&["/prompt_tokens"]);
    let cache_read = count(&CACHE_READ).min(prompt);
    let cache_write = count(&CACHE_WRITE).min(prompt - cache_read);
    let input = prompt - cache_read - cache_write;
    let usage = Usage { steps: 1, input, cache_read, cache_write, output: count(&["/completion_tokens"]), cost: Cost(0) };
    Usage { cost: stated(said).unwrap_or_else(|| usage.priced(prices)), ..usage }
}

/// What the provider says it cost. Where OpenRouter used the caller's own key at the vendor, its `cost` is only its fee.
fn stated(said: &Value) -> Option<Cost> {
    let dollars = |name| said.pointer(name).and_then(Value::as_f64);
    let cost = dollars("/cost")?;
    let own_key = said.pointer("/is_byok").and_then(Value::as_bool).unwrap_or(false);
    let upstream = if own_key { dollars("/cost_details/upstream_inference_cost").unwrap_or(0.0) } else { 0.0 };
    picodollars(cost + upstream)
}

/// Dollars as picodollars, to the nearest.
fn picodollars(dollars: f64) -> Option<Cost> {
    let picodollars = (dollars * 1e12).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked on the line before; larger ones saturate")]
    (picodollars >= 0.0).then_some(Cost(picodollars as u64))
}
