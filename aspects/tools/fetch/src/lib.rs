//! The tool `WebFetch`: reads one URL, among the hosts that its Aspect's egress list names.

use std::collections::BTreeMap;

use thetis_sdk::http::{self, Method, Request, Response};
use thetis_sdk::tool::{Call, Facts, Tool};

#[cfg(test)]
mod tests;

/// What is read of an answer, in bytes. The host cuts what the model sees further and keeps the rest.
const MOST: usize = 256 << 10;

/// Headers of the answer that tell the model what to do next.
const SHOWN: [&str; 4] = ["content-type", "location", "retry-after", "last-modified"];

thetis_sdk::arguments! {
    /// What to fetch.
    struct Arguments {
        /// The whole URL, with https:// or http://.
        url: String,
        /// Headers to send, by name.
        headers: Option<BTreeMap<String, String>>,
    }
}

struct Fetch;

thetis_sdk::export_tool!(Fetch);

impl Tool for Fetch {
    type Arguments = Arguments;
    const FACTS: Facts = Facts::pure(
        "WebFetch",
        "Gets a URL and returns status, some headers and the text as it came (HTML stays HTML), at most 256 KiB of it. Redirects \
         are not followed: fetch the location they name. Only hosts that this tool was granted can be reached.",
    );

    fn call(arguments: Arguments, _call: &Call) -> Result<String, String> {
        let headers = arguments.headers.unwrap_or_default();
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
            headers.push(("user-agent", "thetis"));
        }
        let request = Request { method: Method::Get, url: &arguments.url, headers: &headers, body: &[] };
        let response = http::send(&request, MOST)?;
        if response.status < 400 { Ok(show(&response)) } else { Err(show(&response)) }
    }
}

/// The answer as text.
fn show(response: &Response) -> String {
    let shown = SHOWN.iter().filter_map(|name| response.header(name).map(|value| format!("\n{name}: {value}")));
    let head: String = std::iter::once(format!("HTTP status {}", response.status)).chain(shown).collect();
    let body = readable(response).unwrap_or_else(|| format!("(not text: {} bytes)", response.body.len()));
    let cut = if response.cut { format!("\n\n(cut: the answer goes on beyond {MOST} bytes)") } else { String::new() };
    format!("{head}\n\n{body}{cut}")
}

/// The body as text: what calls itself text even where it is not quite UTF-8, and whatever else is UTF-8.
fn readable(response: &Response) -> Option<String> {
    // A cut may fall into the middle of a character.
    let whole = match std::str::from_utf8(&response.body) {
        Ok(text) => Some(text),
        Err(error) if response.cut && error.error_len().is_none() => {
            response.body.get(..error.valid_up_to()).and_then(|head| std::str::from_utf8(head).ok())
        }
        Err(_) => None,
    };
    let says_text = response.header("content-type").is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/"));
    match whole {
        Some(text) if says_text || !text.contains('\0') => Some(text.to_owned()),
        None if says_text => Some(String::from_utf8_lossy(&response.body).into_owned()),
        _ => None,
    }
}
