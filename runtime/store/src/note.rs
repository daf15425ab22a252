//! Durable keyed notes of a conversation, in the bounds that `wit/config.wit` states. IO.

use thetis_core::id::ConversationId;

use crate::column::signed;
use crate::fault::Fault;
use crate::lease::Hold;
use crate::open::Store;

/// The longest key, in bytes; the shortest is 1.
pub const KEY_BYTES: usize = 128;
/// The longest content, in bytes.
pub const CONTENT_BYTES: usize = 64 << 10;
/// Notes of one conversation.
pub const NOTES: u32 = 256;

/// A note could not be put or had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The key is empty or too long.
    #[error("a note's key has 1 to {KEY_BYTES} bytes; this one has {bytes}")]
    Key {
        /// How many.
        bytes: usize,
    },
    /// The content is too long.
    #[error("a note has at most {CONTENT_BYTES} bytes; this one has {bytes}")]
    Content {
        /// How many.
        bytes: usize,
    },
    /// The conversation has as many notes as it may.
    #[error("the conversation has {NOTES} notes, which is the most; write over one of them")]
    Full,
    /// The writer's claim is not the conversation's any more.
    #[error("another claim has replaced this one")]
    Fenced,
    /// It was not written, or nobody knows whether it was; putting the same again is safe.
    #[error("write a note of conversation {conversation}")]
    Write {
        /// Which.
        conversation: ConversationId,
        /// What failed.
        #[source]
        fault: Fault,
    },
    /// The database failed.
    #[error("read notes of conversation {conversation}")]
    Read {
        /// Which.
        conversation: ConversationId,
        /// What failed.
        #[source]
        fault: Fault,
    },
}

impl Error {
    /// Whether the note itself is what is wrong, so that its writer should hear why.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Key { .. } | Self::Content { .. } | Self::Full)
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Write { fault, .. } | Self::Read { fault, .. } if fault.is_retryable())
    }
}

impl Store {
    /// Writes the note, replacing what the key held. Like everything that a turn writes, it needs the claim.
    pub async fn put_note(&self, hold: Hold, key: &str, content: &str) -> Result<(), Error> {
        check_key(key)?;
        if content.len() > CONTENT_BYTES {
            return Err(Error::Content { bytes: content.len() });
        }
        let question = async {
            let mut transaction = self.pool.begin().await?;
            // Also keeps two puts from counting the same free place; the count has to come after the lock, in a statement of
            // its own, to see what the other wrote.
            let row = sqlx::query("select from conversation where id = $1 and epoch = $2 for no key update");
            let row = row.bind(hold.conversation.0).bind(signed(hold.epoch.0)).fetch_optional(&mut *transaction).await?;
            if row.is_none() {
                return Ok(Err(Error::Fenced));
            }
            let put = sqlx::query(
                "insert into note (conversation, key, content)
                 select $1, $2, $3 where (select count(*) from note where conversation = $1 and key <> $2) < $4
                 on conflict (conversation, key) do update set content = excluded.content, at = excluded.at",
            );
            let put = put.bind(hold.conversation.0).bind(key.as_bytes()).bind(content.as_bytes()).bind(i64::from(NOTES));
            let put = put.execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(if put.rows_affected() == 0 { Err(Error::Full) } else { Ok(()) })
        };
        self.ask(question).await.map_err(|fault| Error::Write { conversation: hold.conversation, fault })?
    }

    /// What the key holds.
    pub async fn note(&self, conversation: ConversationId, key: &str) -> Result<Option<String>, Error> {
        check_key(key)?;
        let row = sqlx::query_scalar("select content from note where conversation = $1 and key = $2");
        let row = row.bind(conversation.0).bind(key.as_bytes()).fetch_optional(&self.pool);
        let content: Option<Vec<u8>> = self.ask(row).await.map_err(|fault| Error::Read { conversation, fault })?;
        Ok(content.map(text))
    }

    /// The keys, in the order of their bytes.
    pub async fn note_keys(&self, conversation: ConversationId) -> Result<Vec<String>, Error> {
        let rows = sqlx::query_scalar("select key from note where conversation = $1 order by key");
        let rows = rows.bind(conversation.0).fetch_all(&self.pool);
        let keys: Vec<Vec<u8>> = self.ask(rows).await.map_err(|fault| Error::Read { conversation, fault })?;
        Ok(keys.into_iter().map(text).collect())
    }
}

const fn check_key(key: &str) -> Result<(), Error> {
    if key.is_empty() || key.len() > KEY_BYTES { Err(Error::Key { bytes: key.len() }) } else { Ok(()) }
}

/// Only text is ever put.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
