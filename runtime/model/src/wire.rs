//! The chat-completions request as it goes over the wire. Pure: the same request always makes the same bytes.
//!
//! How the log's words become the provider's:
//! - Text that no person wrote (context, interruptions, summaries) is user-role text inside a tag. A system message in the
//!   middle would be hoisted to the front by Anthropic, which changes the cached prefix and the order.
//! - Results stand directly behind the message that asks for them, in the order of its calls, whatever came in between:
//!   providers want them there. For everything else the caller's order holds.
//! - Call ids, tool names and arguments that a provider would reject are replaced, never sent as they are: one bad reply must
//!   not make every later request invalid.

mod cache;
mod history;
mod text;

use serde::Serialize;
use serde_json::Value;
use thetis_core::event::Attachment;
use thetis_core::id::{Digest, Seq};
use thetis_core::settings::CacheVendor;

use crate::request::Request;
use cache::Mark;
use history::Message;

pub use cache::MARKS;
pub use text::shows;

/// The most bytes of a reply: text, reasoning and arguments together.
pub const REPLY_BYTES: usize = 16 << 20;

/// The most calls that one reply may ask for.
pub const CALLS: usize = 128;

/// Why a history does not become a request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes of an attachment are not among the blobs.
    #[error("the bytes of attachment {name:?} ({digest}) of event {seq} are missing")]
    BlobMissing {
        /// The message it came with.
        seq: Seq,
        /// Its name.
        name: String,
        /// Of its bytes.
        digest: Digest,
    },
    /// A result whose message or call the history does not hold, or that has a result before it.
    #[error("event {seq} is the result of call {call:?} of event {message}, which the history does not hold or which has one already")]
    ResultOrphaned {
        /// The result.
        seq: Seq,
        /// The message it names.
        message: Seq,
        /// The call it names.
        call: String,
    },
    /// A call without a result.
    #[error("call {call:?} of event {message} has no result in the history")]
    CallUnanswered {
        /// The message that asks for it.
        message: Seq,
        /// The call.
        call: String,
    },
    /// There is nothing to answer.
    #[error("the history holds nothing that the model could see")]
    Empty,
}

/// The body of the request.
#[expect(clippy::missing_panics_doc, reason = "see the one below")]
pub fn body(request: &Request<'_>) -> Result<Vec<u8>, Error> {
    let marked = request.model.cache == CacheVendor::Anthropic;
    let mut messages = history::messages(request, marked)?;
    if messages.is_empty() {
        return Err(Error::Empty);
    }
    if marked {
        cache::mark(&mut messages);
    }
    if let Some(system) = system(request.system, marked) {
        messages.insert(0, system);
    }
    let (max_tokens, max_completion_tokens) = output_limit(&request.model.base_url, request.model.output_tokens);
    let body = Completion {
        model: &request.model.wire_id,
        max_tokens,
        max_completion_tokens,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        tools: request.tools.iter().map(|tool| Tool::from(*tool)).collect(),
        messages,
    };
    #[expect(clippy::expect_used, reason = "structs of strings, numbers and values cannot fail to serialise into memory")]
    Ok(serde_json::to_vec(&body).expect("serialising into memory"))
}

/// OpenAI's own endpoint rejects `max_tokens` for its newer models; everybody else knows it, and not all know the new name.
fn output_limit(base_url: &str, tokens: u64) -> (Option<u64>, Option<u64>) {
    if base_url.starts_with("https://api.openai.com/") { (None, Some(tokens)) } else { (Some(tokens), None) }
}

/// One system message of the parts that say something; the last part carries the mark that covers tools and system.
fn system(parts: &[String], marked: bool) -> Option<Message<'_>> {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.trim().is_empty()).collect();
    let (last, before) = parts.split_last()?;
    if !marked {
        return Some(Message::System { content: Content::Text(parts.join("\n\n").into()) });
    }
    let before = before.iter().map(|part| Part::text(*part));
    let last = Part::Text { text: (*last).into(), cache_control: Some(Mark::EPHEMERAL) };
    Some(Message::System { content: Content::Parts(before.chain([last]).collect()) })
}

#[derive(Serialize)]
struct Completion<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Message<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "function", rename_all = "lowercase")]
enum Tool<'a> {
    Function { name: &'a str, description: &'a str, parameters: &'a Value },
}

impl<'a> From<&'a thetis_core::tool::Manifest> for Tool<'a> {
    fn from(tool: &'a thetis_core::tool::Manifest) -> Self {
        Self::Function { name: &tool.name, description: &tool.description, parameters: &tool.input_schema }
    }
}

/// What a message says: plain where nothing needs parts, because not every endpoint knows parts everywhere.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(std::borrow::Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        text: std::borrow::Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    ImageUrl {
        image_url: Image,
    },
}

#[derive(Serialize)]
struct Image {
    url: String,
}

impl<'a> Part<'a> {
    fn text(text: impl Into<std::borrow::Cow<'a, str>>) -> Self {
        Self::Text { text: text.into(), cache_control: None }
    }

    fn image(attachment: &Attachment, bytes: &[u8]) -> Self {
        use base64::Engine as _;
        let mut url = format!("data:{};base64,", attachment.media_type);
        base64::engine::general_purpose::STANDARD.encode_string(bytes, &mut url);
        Self::ImageUrl { image_url: Image { url } }
    }
}

#[cfg(test)]
mod tests;
