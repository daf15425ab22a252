//! Model objects and their keys.

use thetis_core::key::Key;
use thetis_core::settings::{self, CacheVendor};
use thetis_crds::Model;
use thetis_crds::model::{Cache, Prices};

use crate::dollars;
use crate::objects::Data;
use crate::problem::{Kind, Problem, Problems, What, ranged};

/// The host that always wants a key.
const OPENROUTER: &str = "openrouter.ai";

/// The longest reply of a model that does not say, where its context has room for as much again.
const OUTPUT_TOKENS: i32 = 8192;

/// The model as turns use it, and its key. A model that names a key has one: there is no blank Authorization header.
pub fn model(object: &Model, data: &Data) -> Result<(settings::Model, Option<Key>), Vec<Problem>> {
    let spec = &object.spec;
    let mut problems = Problems::new(Kind::Model, object.metadata.name.as_deref().unwrap_or_default());
    let host = host(&spec.base_url);
    let key = match &spec.key {
        Some(key) => problems.take("spec.key.secretKeyRef", data.secrets.key(&key.secret_key_ref).map(Some)),
        None if host == OPENROUTER => {
            let ambient = data.openrouter_key.clone().ok_or(What::NoKey { host: host.to_owned() });
            problems.take("spec", ambient.map(Some))
        }
        None => None,
    };
    let context = problems.take("spec.contextTokens", ranged(spec.context_tokens, 1024, 100_000_000));
    let output = problems.take(
        "spec.outputTokens",
        ranged(spec.output_tokens.unwrap_or_else(|| OUTPUT_TOKENS.min(spec.context_tokens / 2)), 16, 10_000_000),
    );
    if output >= context {
        problems.add("spec.outputTokens", What::NotLessThan("contextTokens"));
    }
    let prices = spec.prices.as_ref().map(|prices| price(&mut problems, prices)).unwrap_or_default();
    let model = settings::Model {
        wire_id: spec.id.clone(),
        base_url: spec.base_url.trim_end_matches('/').to_owned(),
        keyed: key.is_some(),
        cache: match spec.cache.unwrap_or_else(|| usual_cache(&spec.id)) {
            Cache::Anthropic => CacheVendor::Anthropic,
            Cache::Implicit => CacheVendor::Implicit,
        },
        context_tokens: context.into(),
        output_tokens: output.into(),
        prices,
    };
    problems.finish((model, key))
}

fn price(problems: &mut Problems<'_>, prices: &Prices) -> settings::Prices {
    let input = problems.take("spec.prices.input", dollars::micro(&prices.input));
    let mut cached = |field: &str, price: Option<&String>| {
        problems.take(format!("spec.prices.{field}"), price.map_or(Ok(input), |price| dollars::micro(price)))
    };
    settings::Prices {
        input,
        cache_read: cached("cacheRead", prices.cache_read.as_ref()),
        cache_write: cached("cacheWrite", prices.cache_write.as_ref()),
        output: problems.take("spec.prices.output", dollars::micro(&prices.output)),
    }
}

/// Whose rules a model follows that does not say.
fn usual_cache(id: &str) -> Cache {
    if id.starts_with("anthropic/") || id.starts_with("claude") { Cache::Anthropic } else { Cache::Implicit }
}

/// The host of a URL, without its port.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', ':']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
