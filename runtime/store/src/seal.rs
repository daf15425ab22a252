//! Secrets, and how they lie in the database: sealed, so that a dump of it gives none away. Pure but for the random nonce.

use std::fmt;

use chacha20poly1305::aead::{Aead as _, Generate as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use zeroize::Zeroize as _;

/// Text that must not be shown: it has no `Display`, its `Debug` hides it, and its memory is wiped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the text.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for the one place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// The key that seals: 32 random bytes that live outside the database.
#[derive(Clone)]
pub struct SealingKey([u8; Self::BYTES]);

impl SealingKey {
    /// Its length.
    pub const BYTES: usize = 32;

    /// A key that was made before.
    #[must_use]
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// A new key, from the operating system's randomness.
    #[must_use]
    pub fn generate() -> Self {
        Self(chacha20poly1305::Key::generate().into())
    }

    /// The bytes, to be kept where only the owner can read them.
    #[must_use]
    pub const fn expose(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Seals `secret` for the place that `at` names; it opens nowhere else.
    pub(crate) fn seal(&self, at: &Place<'_>, secret: &Secret) -> Vec<u8> {
        let nonce = XNonce::generate();
        let text = Payload { msg: secret.0.as_bytes(), aad: &at.bytes() };
        // Fails for texts of 256 GiB and more; an empty seal opens nowhere.
        let sealed = XChaCha20Poly1305::new(&self.0.into()).encrypt(&nonce, text).unwrap_or_default();
        [nonce.as_slice(), &sealed].concat()
    }

    /// Opens what [`Self::seal`] made.
    pub(crate) fn open(&self, at: &Place<'_>, sealed: &[u8]) -> Result<Secret, Sealed> {
        let (nonce, text) = sealed.split_first_chunk::<24>().ok_or(Sealed)?;
        let text = Payload { msg: text, aad: &at.bytes() };
        let text = XChaCha20Poly1305::new(&self.0.into()).decrypt(&XNonce::from(*nonce), text).map_err(|_| Sealed)?;
        String::from_utf8(text).map(Secret).map_err(|_| Sealed)
    }
}

impl Drop for SealingKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(***)")
    }
}

/// It was sealed with another key, for another place, or changed since.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("sealed with another key, for another place, or changed since")]
pub struct Sealed;

/// Where a sealed secret belongs.
pub(crate) struct Place<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
}

impl Place<'_> {
    /// Each part with its length before it: no two places share their bytes.
    fn bytes(&self) -> Vec<u8> {
        let parts = [self.namespace, self.kind, self.name];
        parts.into_iter().flat_map(|part| (part.len() as u64).to_be_bytes().into_iter().chain(part.bytes())).collect()
    }
}

#[cfg(test)]
mod tests;
