//! How a step with a model fails. Every text says what to do next; what a provider wrote is bounded and shown as text.

use std::time::Duration;

use serde_json::Value;

/// Why there is no reply. Retries are over when a caller sees this.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The history cannot become a valid request.
    #[error("the log does not make a valid model request")]
    Request(#[source] crate::wire::Error),
    /// The model wants a key and the caller has none.
    #[error("the model wants a key and there is none: name a Secret in the Model")]
    NoKey,
    /// The base URL cannot be used.
    #[error("the model's base URL {url:?} is not one ({reason}): correct the Model")]
    Address {
        /// As the Model has it.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The endpoint does not accept the key (401, 403).
    #[error("the model endpoint does not accept the key ({status}): {message:?}; put a valid one in the Model's Secret")]
    Unauthorized {
        /// The HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// The account has nothing left (402).
    #[error("the model endpoint's account has no credit left: {message:?}; add credit, then send another message")]
    NoCredit {
        /// The provider's words.
        message: String,
    },
    /// The endpoint sends elsewhere; a key is never sent after a redirect.
    #[error("the model endpoint redirects ({status}) to {location:?}: put the final address in the Model's base URL")]
    Redirected {
        /// The HTTP status.
        status: u16,
        /// Where to; empty when it does not say.
        location: String,
    },
    /// The endpoint will not answer this request, now or later.
    #[error("the model endpoint refused the request ({status}): {message:?}; correct the Model or what the conversation holds")]
    Refused {
        /// The HTTP status, or the code of an error inside the stream.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// Too many requests, also after waiting.
    #[error("the model endpoint limits the rate: {message:?}; try again later or raise the limit with the provider")]
    RateLimited {
        /// How long it asks to wait, where it says so.
        after: Option<Duration>,
        /// The provider's words.
        message: String,
    },
    /// The endpoint or the provider behind it fails.
    #[error("the model endpoint fails ({status}): {message:?}; try again later or choose another Model")]
    Unavailable {
        /// The HTTP status, or the code of an error inside the stream; 0 when it has none.
        status: u16,
        /// How long it asks to wait, where it says so.
        after: Option<Duration>,
        /// The provider's words.
        message: String,
    },
    /// No connection, or one that broke before an answer came.
    #[error("the model endpoint cannot be reached: check the Model's base URL and the way out of this network")]
    Unreachable(#[source] reqwest::Error),
    /// The stream ended before the reply did.
    #[error("the model's reply broke off: try again later or choose another Model")]
    Cut(#[source] Option<reqwest::Error>),
    /// Nothing came for too long.
    #[error("the model sent nothing for {} s: try again later or choose another Model", .0.as_secs())]
    Stalled(Duration),
    /// The caller's deadline passed.
    #[error("the model's reply was not complete when the turn's time was up")]
    Deadline,
    /// The endpoint is not what the Model says it is.
    #[error("the model endpoint does not answer with a chat completion ({what}): check the Model's base URL")]
    NotACompletion {
        /// What it is instead, with an excerpt.
        what: String,
    },
    /// A part of the stream is not what the format asks for.
    #[error("the model endpoint sent a broken stream ({what}): try again later or choose another Model")]
    Malformed {
        /// Which part, with an excerpt.
        what: String,
    },
    /// The reply is larger than this program holds.
    #[error("the model's reply is too large ({what}): lower the Model's output tokens")]
    TooLarge {
        /// Which bound.
        what: &'static str,
    },
}

impl Error {
    /// Whether the same step may succeed later without anybody changing anything.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Unavailable { .. }
            | Self::Unreachable(_)
            | Self::Cut(_)
            | Self::Stalled(_)
            | Self::Malformed { .. } => true,
            Self::Request(_)
            | Self::NoKey
            | Self::Address { .. }
            | Self::Unauthorized { .. }
            | Self::NoCredit { .. }
            | Self::Redirected { .. }
            | Self::Refused { .. }
            | Self::Deadline
            | Self::NotACompletion { .. }
            | Self::TooLarge { .. } => false,
        }
    }

    /// What a provider reports, by HTTP `status` or inside a stream. `error` is the value of the member `error`.
    pub(crate) fn reported(status: Option<u16>, error: &Value, after: Option<Duration>) -> Self {
        let code = error.get("code").unwrap_or(&Value::Null);
        let named = [code, error.get("type").unwrap_or(&Value::Null)].into_iter().filter_map(Value::as_str).find_map(status_of);
        let number = code.as_u64().and_then(|code| u16::try_from(code).ok());
        let message = message(error);
        match (status.or(number).or(named).unwrap_or(0), named) {
            (402, _) | (429, Some(402)) => Self::NoCredit { message },
            (401, _) => Self::Unauthorized { status: 401, message },
            (429, _) => Self::RateLimited { after, message },
            // Three of the client's errors say that only the moment was wrong: timed out, conflict, too early.
            (status @ 400..500, _) if !matches!(status, 408 | 409 | 425) => Self::Refused { status, message },
            (status, _) => Self::Unavailable { status, after, message },
        }
    }
}

/// The status that stands for an error which is named instead of numbered.
fn status_of(name: &str) -> Option<u16> {
    Some(match name {
        "invalid_request_error" => 400,
        "authentication_error" | "invalid_api_key" => 401,
        "insufficient_quota" => 402,
        "rate_limit_exceeded" | "rate_limit_error" => 429,
        "server_error" | "api_error" => 500,
        "overloaded_error" => 529,
        _ => return None,
    })
}

/// The words of an error, and those of the provider behind a gateway, which its own words often hide.
fn message(error: &Value) -> String {
    let text = |pointer| error.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let words = error.as_str().or(text("/message")).unwrap_or("no reason given");
    let behind = text("/metadata/raw").map(|raw| format!(" ({}: {raw})", text("/metadata/provider_name").unwrap_or("provider")));
    excerpt(&format!("{words}{}", behind.unwrap_or_default()), MESSAGE_CHARS)
}

/// Of a provider's message.
const MESSAGE_CHARS: usize = 600;

/// The beginning of a text, at most `chars` characters, marked where it was cut.
pub(crate) fn excerpt(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
