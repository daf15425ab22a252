//! What people may say, wherever it comes in. Pure; each way in turns the error into its own kind of answer.

use crate::event::UserMessage;

#[cfg(test)]
mod tests;

/// Why a message is not taken. Nothing is logged then, and the sender has it still.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Neither words nor files.
    #[error("the message is empty")]
    Empty,
    /// More than the conversation takes.
    #[error("the message has {bytes} bytes; this conversation takes at most {limit}")]
    TooLong {
        /// Of the text.
        bytes: usize,
        /// Allowed.
        limit: u32,
    },
    /// Text with NUL characters is some binary file by mistake, and model providers reject it.
    #[error("the message holds a NUL character, at byte {at}: it is not text")]
    Nul {
        /// Where, from 0.
        at: usize,
    },
}

/// Whether a conversation takes the message; `limit` is [`crate::settings::Limits::message_bytes`].
///
/// # Errors
/// Why not.
pub fn check(message: &UserMessage, limit: u32) -> Result<(), Error> {
    let bytes = message.text.len();
    if message.text.trim().is_empty() && message.attachments.is_empty() {
        return Err(Error::Empty);
    }
    if u32::try_from(bytes).is_ok_and(|bytes| bytes <= limit) {
        message.text.find('\0').map_or(Ok(()), |at| Err(Error::Nul { at }))
    } else {
        Err(Error::TooLong { bytes, limit })
    }
}
