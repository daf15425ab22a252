//! A model endpoint's key: never blank, never printed, marked sensitive for HTTP/2. No IO.

use std::fmt;

use http::HeaderValue;

/// A key that a request may carry. Made once from what the store unsealed; there is no blank one.
#[derive(Clone)]
pub struct Key(HeaderValue);

/// Why a text is not a key. The text itself is never part of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAKey {
    /// Nothing but white space.
    #[error("the model's key is blank: put one in the Secret that the Model names, or take the reference away")]
    Blank,
    /// Something that a header cannot hold, such as a line break in the middle.
    #[error("the model's key holds characters that an HTTP header cannot carry: store it without line breaks or quotes around it")]
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
        let mut bearer = HeaderValue::try_from(format!("Bearer {text}")).map_err(|_| NotAKey::Unprintable)?;
        bearer.set_sensitive(true);
        Ok(Self(bearer))
    }

    /// The value of the Authorization header.
    pub(crate) fn bearer(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests;
