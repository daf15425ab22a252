//! A model endpoint's key: never blank, never printed. Where it is kept and how it is sealed is decided elsewhere.

use std::fmt;

/// A key that a request may carry. There is no blank one, and none that an HTTP header could not hold.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

/// Why a text is not a key. The text itself is never part of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAKey {
    /// Nothing but white space.
    #[error("the key is blank")]
    Blank,
    /// Something that a header cannot carry, such as a line break in the middle.
    #[error("the key holds white space or characters that are not ASCII")]
    Unprintable,
}

impl Key {
    /// A key. White space around it is dropped, because files and shells like to add a line break.
    pub fn new(text: &str) -> Result<Self, NotAKey> {
        let text = text.trim();
        if text.is_empty() {
            return Err(NotAKey::Blank);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(NotAKey::Unprintable);
        }
        Ok(Self(text.to_owned()))
    }

    /// The key itself, for the header and for sealing.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests;
