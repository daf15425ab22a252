//! The log: the only place that writes events. IO.
//!
//! Two ways in. Input (messages, requests to stop) comes from outside a turn, takes the conversation's row lock and needs no
//! claim. Everything that a turn writes goes through [`Store::append`], which names the claim's epoch and the last event that
//! the writer knows; the statement that writes checks both. An append is valid while its epoch is the row's, also after its
//! lease ran out: the next claim is what ends it, not the clock.

mod batch;
mod committer;

use sqlx::PgConnection;
use thetis_core::event::{Body, Event, Timestamp, Unreadable};
use thetis_core::id::{ConversationId, Seq, SeqRange, Turn};
use thetis_core::title::title;
use thetis_core::usage::Usage;

pub(crate) use committer::Appender;

use crate::column::{At, signed, small, unsigned};
use crate::fault::Fault;
use crate::lease::Hold;
use crate::open::Store;

/// What a turn appends.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    /// The claim that it holds.
    pub hold: Hold,
    /// The last event that it knows. Where the log has gone on, nothing is written.
    pub tail: Seq,
    /// The turn.
    pub turn: Option<Turn>,
    /// One event each, in order; at least one, at most [`MAX_EVENTS`] and [`MAX_BYTES`].
    pub bodies: Vec<Body>,
    /// Where this ends the turn and gives the claim back.
    pub end: Option<End>,
}

/// The most events of one append.
pub const MAX_EVENTS: usize = 10_000;
/// The most bytes of JSON in one append.
pub const MAX_BYTES: usize = 16 << 20;

/// A turn is over: attempts and lease are cleared, the state is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Added to the conversation's; saturates.
    pub usage: Usage,
    /// Whether there is input left for a next turn.
    pub runnable: bool,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The first event's number; the others follow.
    pub first: Seq,
    /// All of them have this time.
    pub at: Timestamp,
}

/// Nothing was written, or nobody knows whether it was.
pub mod append {
    use super::{Fault, Seq};

    /// Why an append did not go through.
    #[derive(Debug, thiserror::Error)]
    pub enum Error {
        /// The claim is not the conversation's any more: somebody else runs it, or nobody. Stop at once.
        #[error("another claim has replaced this one")]
        Fenced,
        /// The log does not end where the writer thinks. Read from there and try again. After an `Unavailable`, events that
        /// name a turn are the lost append itself: nobody else writes such under this epoch.
        #[error("the log ends at {tail} now")]
        Moved {
            /// Its last event.
            tail: Seq,
        },
        /// Too many appends are waiting; nothing was written. Try again later.
        #[error("too many appends are waiting for the database")]
        Busy,
        /// No answer: it may have been written. Trying again is safe and tells: [`Error::Moved`] means that it was, or that
        /// input came.
        #[error("append to the log")]
        Unavailable(#[source] Fault),
        /// The append itself cannot be: it breaks a bound, or the database refuses what it holds.
        #[error("the log cannot hold this: {reason}")]
        Rejected {
            /// For people.
            reason: &'static str,
            /// What the database said.
            #[source]
            fault: Option<Fault>,
        },
    }

    impl Error {
        /// Whether the same append may go through later.
        #[must_use]
        pub const fn is_retryable(&self) -> bool {
            matches!(self, Self::Busy | Self::Unavailable(_))
        }

        pub(crate) fn of(fault: Fault) -> Self {
            if fault.is_retryable() {
                Self::Unavailable(fault)
            } else {
                Self::Rejected { reason: "the database refuses what it holds", fault: Some(fault) }
            }
        }
    }
}

/// Input was not taken.
pub mod input {
    use super::{ConversationId, Fault};

    /// Why input was not taken.
    #[derive(Debug, thiserror::Error)]
    pub enum Error {
        /// There is no such conversation.
        #[error("there is no conversation {0}")]
        Unknown(ConversationId),
        /// It is done.
        #[error("conversation {0} is done")]
        Done(ConversationId),
        /// Nothing is there to stop: no turn is open and none is due.
        #[error("conversation {0} runs no turn")]
        Idle(ConversationId),
        /// Only a user's message and a request to stop come from outside a turn.
        #[error("{kind} is not input")]
        NotInput {
            /// The event's kind.
            kind: &'static str,
        },
        /// It was not written, or nobody knows whether it was.
        #[error("write input to conversation {conversation}")]
        Write {
            /// Which.
            conversation: ConversationId,
            /// What failed.
            #[source]
            fault: Fault,
        },
    }

    impl Error {
        /// Whether the same input may be taken later.
        #[must_use]
        pub const fn is_retryable(&self) -> bool {
            matches!(self, Self::Write { fault, .. } if fault.is_retryable())
        }
    }
}

/// Events could not be read.
pub mod read {
    use super::{ConversationId, Fault, Unreadable};

    /// Why events could not be read.
    #[derive(Debug, thiserror::Error)]
    pub enum Error {
        /// An event is not one that this version knows.
        #[error("the log of conversation {conversation} was written by another version")]
        Unreadable {
            /// Which.
            conversation: ConversationId,
            /// The event.
            #[source]
            cause: Unreadable,
        },
        /// The database failed.
        #[error("read the log of conversation {conversation}")]
        Read {
            /// Which.
            conversation: ConversationId,
            /// What failed.
            #[source]
            fault: Fault,
        },
    }

    impl Error {
        /// Whether the same read may succeed later.
        #[must_use]
        pub const fn is_retryable(&self) -> bool {
            matches!(self, Self::Read { fault, .. } if fault.is_retryable())
        }
    }
}

impl Store {
    /// Takes input from outside a turn, and makes the conversation runnable. Returns the event's number.
    pub async fn input(&self, conversation: ConversationId, body: Body) -> Result<Seq, input::Error> {
        let first_title = match &body {
            Body::UserMessage(message) => title(message),
            Body::CancelRequested(_) => None,
            _ => return Err(input::Error::NotInput { kind: body.kind() }),
        };
        let question = async {
            let mut connection = self.pool.acquire().await?;
            if let Some(seq) = insert_input(&mut connection, conversation, &body, first_title.as_deref()).await? {
                return Ok(Ok(seq));
            }
            let state = sqlx::query_scalar("select state from conversation where id = $1").bind(conversation.0);
            let state: Option<String> = state.fetch_optional(&mut *connection).await?;
            Ok(Err(match state.as_deref() {
                None => input::Error::Unknown(conversation),
                Some("done") => input::Error::Done(conversation),
                Some(_) => input::Error::Idle(conversation),
            }))
        };
        self.ask(question).await.map_err(|fault| input::Error::Write { conversation, fault })?
    }

    /// The events of a range, ascending; fewer where the log is shorter. The caller bounds the range.
    pub async fn read(&self, conversation: ConversationId, range: SeqRange) -> Result<Vec<Event>, read::Error> {
        type Row = (i64, At, Option<i32>, String, String);
        let rows = sqlx::query_as(
            "select seq, at, turn, kind, body::text from event where conversation = $1 and seq between $2 and $3 order by seq",
        );
        let rows = rows.bind(conversation.0).bind(signed(range.first.0)).bind(signed(range.last.0)).fetch_all(&self.pool);
        let rows: Vec<Row> = self.ask(rows).await.map_err(|fault| read::Error::Read { conversation, fault })?;
        let event = |(seq, at, turn, kind, body): Row| {
            let turn = turn.map(|turn| Turn(small(turn.into())));
            Event::decode(Seq(unsigned(seq)), at.0, turn, &kind, &body)
        };
        rows.into_iter().map(event).collect::<Result<_, _>>().map_err(|cause| read::Error::Unreadable { conversation, cause })
    }

    /// Writes a turn's events, with those of other conversations in one commit. Returns once they are durable. A caller that
    /// stops waiting does not take the append back: it may still be written.
    pub async fn append(&self, append: Append) -> Result<Appended, append::Error> {
        self.appender.append(append).await
    }
}

/// Writes one event of input and makes the conversation runnable; none where it takes none: it is unknown, done, or (for a
/// request to stop) has nothing to stop.
pub(crate) async fn insert_input(
    connection: &mut PgConnection,
    conversation: ConversationId,
    body: &Body,
    first_title: Option<&str>,
) -> Result<Option<Seq>, sqlx::Error> {
    let row = sqlx::query_scalar(
        "with held as (
             update conversation set
                 next_seq = next_seq + 1,
                 wake_at = least(wake_at, now()),
                 title = coalesce(title, $2),
                 state = case when $3 then 'stopping' else state end
             where id = $1 and state <> 'done' and (not $3 or state <> 'idle' or wake_at is not null)
             returning next_seq - 1 as seq
         )
         insert into event (conversation, seq, at, turn, kind, body) select $1, seq, now(), null, $4, $5::json from held returning seq",
    );
    let stop = matches!(body, Body::CancelRequested(_));
    let row = row.bind(conversation.0).bind(first_title).bind(stop).bind(body.kind()).bind(body.encode());
    Ok(row.fetch_optional(connection).await?.map(|seq: i64| Seq(unsigned(seq))))
}
