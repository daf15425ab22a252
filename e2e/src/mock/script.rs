//! The script: which requests get which answer. Parsed strictly from YAML; a wrong key is named with its path. No IO.
//!
//! `e2e/scripts/example.yaml` shows every key.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Rules, looked at from the first to the last; without one that fits, the last user message is echoed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The models that exist; none means every name does.
    #[serde(default)]
    pub models: Vec<String>,
    /// The rules.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// One rule. It needs a `respond`, a `fault` or both; a fault alone strikes the echo.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which requests it is for; none named means all.
    #[serde(default, rename = "match")]
    pub when: When,
    /// How often it applies before it is passed over; none means always.
    #[serde(default)]
    pub times: Option<u32>,
    /// What the model says.
    #[serde(default)]
    pub respond: Option<Respond>,
    /// What goes wrong.
    #[serde(default)]
    pub fault: Option<Fault>,
}

/// Conditions, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The model asked for.
    #[serde(default)]
    pub model: Option<String>,
    /// Part of the last text that a person said.
    #[serde(default)]
    pub contains: Option<String>,
    /// Who the last message is from.
    #[serde(default)]
    pub last: Option<Last>,
    /// Which step of the turn this is, from 1: one more than the assistant messages since a person spoke.
    #[serde(default)]
    pub step: Option<u32>,
}

/// Who a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Last {
    /// A person, or the environment.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// What the model says, and how fast.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Respond {
    /// Whose wire format.
    #[serde(default)]
    pub shape: Shape,
    /// Thoughts, streamed before the text.
    #[serde(default)]
    pub reasoning: String,
    /// The text. `{user}` stands for the last text that a person said, `{result}` for the last tool result.
    #[serde(default)]
    pub text: String,
    /// Tool calls.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// Why it ends, where that does not follow from the rest: `stop`, `length`, `content_filter`, `tool_calls`.
    #[serde(default)]
    pub finish: Option<String>,
    /// Tokens of the bill, where they should not be counted.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Bytes of text in a delta; none means a word.
    #[serde(default)]
    pub chunk: Option<usize>,
    /// Bytes of arguments in a delta; none means all of them.
    #[serde(default)]
    pub split: Option<usize>,
    /// Milliseconds before the first event.
    #[serde(default)]
    pub first_delay_ms: u64,
    /// Milliseconds before every delta.
    #[serde(default)]
    pub delay_ms: u64,
    /// Milliseconds between comments while a delay lasts; none means no comments.
    #[serde(default)]
    pub keepalive_ms: Option<u64>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Its id; none means a fresh one.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// A mapping, whose texts may use `{user}` and `{result}`; or a text, sent as it is, JSON or not.
    #[serde(default)]
    pub arguments: Value,
}

/// A bill that is stated instead of counted.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Of the request, those in the cache included.
    pub prompt_tokens: u64,
    /// Of the reply.
    pub completion_tokens: u64,
    /// Read from the cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Written to the cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Dollars; none means counted from the tokens.
    #[serde(default)]
    pub cost: Option<f64>,
}

/// Whose wire format an answer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// `OpenRouter` before a vendor of its own format.
    #[default]
    Openrouter,
    /// OpenAI itself.
    Openai,
    /// Anthropic behind `OpenRouter`.
    Anthropic,
}

/// What goes wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Fault {
    /// An HTTP error instead of the answer.
    Http {
        /// 300 to 599.
        status: u16,
        /// The provider's words.
        #[serde(default)]
        message: Option<String>,
        /// Seconds, as a Retry-After header.
        #[serde(default)]
        retry_after: Option<u64>,
        /// A Location header.
        #[serde(default)]
        location: Option<String>,
    },
    /// Not even a status line, ever.
    Silent,
    /// The connection breaks after so many events.
    Cut {
        /// Events that still arrive.
        after: usize,
    },
    /// Nothing more comes after so many events, and the connection stays open.
    Stall {
        /// Events that still arrive.
        after: usize,
    },
    /// An event that is not JSON comes after so many events.
    Malformed {
        /// Events that arrive before it.
        after: usize,
    },
    /// The provider reports an error after so many events, inside the stream.
    Error {
        /// Events that arrive before it.
        after: usize,
        /// Its code.
        code: u16,
        /// Its words.
        message: String,
    },
}

/// Why a script cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not YAML; the text has line and column.
    #[error("the script is not YAML: {0}")]
    Syntax(String),
    /// YAML, but not of a kind that a script may hold: a tag, an alias, a key that is no text.
    #[error("the script holds {0}, which it must not")]
    Unsupported(&'static str),
    /// A wrong key or value.
    #[error("the script is wrong at {path}: {message}")]
    Wrong {
        /// From the top, for example `rules[0].respond.txt`.
        path: String,
        /// What is wrong.
        message: String,
    },
}

impl Script {
    /// Parses a script.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let documents = Yaml::load_from_str(text).map_err(|error| Error::Syntax(error.to_string()))?;
        let value = match documents.as_slice() {
            [] => Value::Object(Map::new()),
            [document] => json(document)?,
            _ => return Err(Error::Unsupported("more than one document")),
        };
        let value = if value.is_null() { Value::Object(Map::new()) } else { value };
        let script: Self = serde_path_to_error::deserialize(value)
            .map_err(|error| Error::Wrong { path: error.path().to_string(), message: error.inner().to_string() })?;
        script.rules.iter().enumerate().try_for_each(|(index, rule)| rule.check(index))?;
        Ok(script)
    }
}

impl Rule {
    fn check(&self, index: usize) -> Result<(), Error> {
        let wrong = |at: &str, message: &str| Error::Wrong { path: format!("rules[{index}]{at}"), message: message.to_owned() };
        if self.respond.is_none() && self.fault.is_none() {
            return Err(wrong("", "a rule needs `respond` or `fault`"));
        }
        if let Some(Fault::Http { status, .. }) = &self.fault
            && !(300..600).contains(status)
        {
            return Err(wrong(".fault.status", "300 to 599 are HTTP errors"));
        }
        if let Some(respond) = &self.respond {
            if respond.chunk == Some(0) || respond.split == Some(0) {
                return Err(wrong(".respond", "`chunk` and `split` are at least 1"));
            }
            let plain = |call: &Call| matches!(call.arguments, Value::Null | Value::String(_) | Value::Object(_));
            if let Some(call) = respond.calls.iter().position(|call| !plain(call)) {
                return Err(wrong(&format!(".respond.calls[{call}].arguments"), "a mapping or a text"));
            }
        }
        Ok(())
    }
}

fn json(yaml: &Yaml<'_>) -> Result<Value, Error> {
    Ok(match yaml {
        Yaml::Value(scalar) => match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(value) => Value::from(*value),
            Scalar::Integer(value) => Value::from(*value),
            Scalar::FloatingPoint(value) => Value::from(value.into_inner()),
            Scalar::String(value) => Value::from(value.as_ref()),
        },
        Yaml::Sequence(items) => items.iter().map(json).collect::<Result<Vec<_>, _>>()?.into(),
        Yaml::Mapping(members) => {
            let member = |(key, value): (&Yaml<'_>, &Yaml<'_>)| match key {
                Yaml::Value(Scalar::String(key)) => Ok((key.to_string(), json(value)?)),
                _ => Err(Error::Unsupported("a key that is not a text")),
            };
            Value::Object(members.iter().map(member).collect::<Result<_, _>>()?)
        }
        Yaml::Tagged(..) => return Err(Error::Unsupported("a tag")),
        _ => return Err(Error::Unsupported("an alias or a value that cannot be read")),
    })
}

#[cfg(test)]
mod tests;
