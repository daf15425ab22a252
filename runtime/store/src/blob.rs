//! Bytes by their digest: components, attachments, long outputs. IO.

use sqlx::PgConnection;
use thetis_core::id::Digest;

use crate::fault::Fault;
use crate::open::Store;

/// The most bytes of one blob.
pub const MAX_BYTES: usize = 64 << 20;

/// A blob could not be put or had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// More than [`MAX_BYTES`].
    #[error("{bytes} bytes are more than a blob may have ({MAX_BYTES})")]
    TooLarge {
        /// How many.
        bytes: usize,
    },
    /// What is stored under the digest is something else.
    #[error("the bytes of {0} are damaged in the database")]
    Damaged(Digest),
    /// The database failed.
    #[error("store blob {digest}")]
    Write {
        /// Which.
        digest: Digest,
        /// What failed.
        #[source]
        fault: Fault,
    },
    /// The database failed.
    #[error("read blob {digest}")]
    Read {
        /// Which.
        digest: Digest,
        /// What failed.
        #[source]
        fault: Fault,
    },
}

impl Error {
    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Write { fault, .. } | Self::Read { fault, .. } if fault.is_retryable())
    }
}

impl Store {
    /// Keeps the bytes. Idempotent.
    pub async fn put_blob(&self, bytes: impl AsRef<[u8]> + Send) -> Result<Digest, Error> {
        let bytes = bytes.as_ref();
        if bytes.len() > MAX_BYTES {
            return Err(Error::TooLarge { bytes: bytes.len() });
        }
        let digest = Digest::of(bytes);
        let question = async { insert(&mut *self.pool.acquire().await?, digest, bytes).await };
        self.ask(question).await.map_err(|fault| Error::Write { digest, fault })?;
        Ok(digest)
    }

    /// The bytes with this digest, checked to be the ones.
    pub async fn blob(&self, digest: Digest) -> Result<Option<Vec<u8>>, Error> {
        let row = sqlx::query_scalar("select bytes from blob where digest = $1").bind(digest.as_bytes());
        let bytes: Option<Vec<u8>> = self.ask(row.fetch_optional(&self.pool)).await.map_err(|fault| Error::Read { digest, fault })?;
        match bytes {
            Some(bytes) if Digest::of(&bytes) != digest => Err(Error::Damaged(digest)),
            bytes => Ok(bytes),
        }
    }
}

pub(crate) async fn insert(connection: &mut PgConnection, digest: Digest, bytes: &[u8]) -> Result<(), sqlx::Error> {
    let known = sqlx::query_scalar("select exists (select from blob where digest = $1)").bind(digest.as_bytes());
    let known: bool = known.fetch_one(&mut *connection).await?;
    if !known {
        let row = sqlx::query("insert into blob (digest, bytes) values ($1, $2) on conflict do nothing");
        row.bind(digest.as_bytes()).bind(bytes).execute(connection).await?;
    }
    Ok(())
}
