//! Texts around the log's own: tags, outcomes, attachments, and what stands for something a provider would reject. Pure.

use std::borrow::Cow;

use serde_json::Value;
use thetis_core::event::{Attachment, CallOutcome, ToolResult};

/// The image types that every vendor takes.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Of an image; the smallest bound among the vendors.
const IMAGE_BYTES: u64 = 5 << 20;
/// Of a text that is shown whole.
const TEXT_BYTES: u64 = 256 << 10;
/// Of a name that somebody else chose, where it is quoted.
const NAME_CHARS: usize = 200;

/// Whether the model is shown the bytes of an attachment; of others it is told that they exist.
#[must_use]
pub fn shows(attachment: &Attachment) -> bool {
    is_image(attachment) || is_text(attachment)
}

pub(super) fn is_image(attachment: &Attachment) -> bool {
    IMAGES.contains(&attachment.media_type.as_str()) && attachment.bytes <= IMAGE_BYTES
}

fn is_text(attachment: &Attachment) -> bool {
    (attachment.media_type.starts_with("text/") || attachment.media_type == "application/json") && attachment.bytes <= TEXT_BYTES
}

/// A text attachment in full, where its bytes are text after all.
pub(super) fn file(attachment: &Attachment, bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => tagged(&format!("file name={:?}", short(&attachment.name)), "file", text),
        Err(_) => unshown(attachment),
    }
}

/// An attachment that the model is not shown.
pub(super) fn unshown(attachment: &Attachment) -> String {
    let Attachment { name, media_type, bytes, .. } = attachment;
    format!("[attachment {:?} of type {:?}, {bytes} bytes, is not shown]", short(name), short(media_type))
}

/// Text from the environment: not a person's.
pub(super) fn environment(text: &str) -> String {
    tagged("environment", "environment", text)
}

/// A summary of what was said before.
pub(super) fn summary(text: &str) -> String {
    tagged("summary", "summary", text)
}

/// `text` inside a tag that it cannot close.
fn tagged(open: &str, tag: &str, text: &str) -> String {
    let close = format!("</{tag}>");
    let text = text.replace(&close, &format!("< /{tag}>"));
    format!("<{open}>\n{text}\n{close}")
}

/// What a tool's result says. The wire has no field for failures, so the first line says how the call ended.
pub(super) fn result(result: &ToolResult) -> Cow<'_, str> {
    let text = if result.text.trim().is_empty() { "(no output)" } else { result.text.as_str() };
    let how = match result.outcome {
        CallOutcome::Answered => return Cow::Borrowed(text),
        CallOutcome::Failed => "the tool failed",
        CallOutcome::Refused => "not run: refused",
        CallOutcome::Cancelled => "not run: cancelled",
        CallOutcome::Interrupted => "interrupted: it may or may not have happened",
        CallOutcome::Trapped => "the tool crashed",
        CallOutcome::OverLimit => "stopped: over a limit",
        CallOutcome::TimedOut => "stopped: out of time",
        CallOutcome::HostFault => "the host failed",
    };
    Cow::Owned(format!("[{how}]\n{text}"))
}

/// Arguments that every vendor parses: an object as the model wrote it, nothing as an empty object, and anything else as text
/// inside an object, so that the model still sees what it wrote.
pub(super) fn arguments(written: &str) -> Cow<'_, str> {
    if written.trim().is_empty() {
        return Cow::Borrowed("{}");
    }
    match serde_json::from_str::<Value>(written) {
        Ok(Value::Object(_)) => Cow::Borrowed(written),
        _ => Cow::Owned(serde_json::json!({ "arguments_that_are_not_a_json_object": written }).to_string()),
    }
}

/// A tool name that every vendor accepts: 1 to 64 of `A-Z a-z 0-9 _ -`.
pub(super) fn tool_name(written: &str) -> Cow<'_, str> {
    if (1..=64).contains(&written.len()) && written.bytes().all(is_word) {
        return Cow::Borrowed(written);
    }
    let name: String = written.bytes().take(64).map(|byte| if is_word(byte) { char::from(byte) } else { '_' }).collect();
    Cow::Owned(if name.is_empty() { "unnamed".to_owned() } else { name })
}

/// A call id that every vendor accepts.
pub(super) fn is_call_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(is_word)
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn short(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}
