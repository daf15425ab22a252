//! Compiled code on disk. A file's name says what it is (component and engine), its seal that we made it. Whatever is
//! missing, torn, foreign or altered reads as absent. Files are replaced whole, so processes may share a folder.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tempfile::NamedTempFile;
use thetis_core::id::Digest;

use super::Vouched;

/// Bytes of an HMAC-SHA256.
const SEAL_BYTES: usize = 32;

/// The largest code that is read back: what the compiling process may hand over.
pub(super) const MAX_CODE_BYTES: u64 = 512 << 20;

/// What all files together may have, in bytes; the least recently made ones go first.
const MAX_FOLDER_BYTES: u64 = 2 << 30;

/// This installation's own secret, that vouches for compiled code.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// From 32 random bytes that nobody else knows.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// HMAC pads a short key with zeros to a block of the hash.
    fn block(&self) -> [u8; 64] {
        let mut block = [0; 64];
        block.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
        block
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[derive(Debug)]
pub(super) struct Disk {
    folder: PathBuf,
    key: Key,
    compatibility: Digest,
    limit: u64,
}

impl Disk {
    pub(super) fn open(folder: &Path, key: Key, compatibility: &Digest) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), key, compatibility: *compatibility, limit: MAX_FOLDER_BYTES })
    }

    pub(super) fn read(&self, digest: Digest) -> Option<Vouched> {
        let mut file = File::open(self.path(digest)).ok()?;
        let length = file.metadata().ok().filter(fs::Metadata::is_file)?.len();
        let length = length.checked_sub(SEAL_BYTES as u64).filter(|length| *length <= MAX_CODE_BYTES)?;
        let mut seal = [0; SEAL_BYTES];
        file.read_exact(&mut seal).ok()?;
        let mut code = Vec::with_capacity(usize::try_from(length).ok()?);
        file.take(MAX_CODE_BYTES).read_to_end(&mut code).ok()?;
        if self.seal(digest, &code).verify_slice(&seal).is_err() {
            tracing::warn!(%digest, "cached code is not ours; it is made again");
            return None;
        }
        Some(Vouched(code))
    }

    pub(super) fn write(&self, digest: Digest, code: &[u8]) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(&self.seal(digest, code).finalize().into_bytes())?;
        file.write_all(code)?;
        file.persist(self.path(digest))?;
        self.shrink()
    }

    /// Removes the oldest files until the folder is within its bound. Another process may be at it too.
    fn shrink(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(&self.folder)?
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((about.modified().ok()?, about.len(), entry.path()))
            })
            .collect();
        files.sort_unstable();
        let mut total = files.iter().fold(0_u64, |total, (_, bytes, _)| total.saturating_add(*bytes));
        for (_, bytes, path) in files {
            if total <= self.limit {
                break;
            }
            fs::remove_file(path)?;
            total = total.saturating_sub(bytes);
        }
        Ok(())
    }

    fn path(&self, digest: Digest) -> PathBuf {
        let hex = |digest: &Digest| digest.to_string().trim_start_matches("sha256:").to_owned();
        let compatibility: String = hex(&self.compatibility).chars().take(16).collect();
        self.folder.join(format!("{}-{compatibility}.cwasm", hex(&digest)))
    }

    /// Over everything that decides what the code is for, so that no file can stand in for another.
    fn seal(&self, digest: Digest, code: &[u8]) -> Hmac<Sha256> {
        let mut seal = Hmac::<Sha256>::new(&self.key.block().into());
        seal.update(b"thetis code 1");
        seal.update(self.compatibility.as_bytes());
        seal.update(digest.as_bytes());
        seal.update(code);
        seal
    }
}
