//! Who runs a conversation: one process at a time, by the database's clock, fenced by the epoch. IO.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::FromRow as _;
use thetis_core::id::{ConversationId, Epoch, Seq};
use uuid::Uuid;

use crate::column::{micros, signed};
use crate::conversation::{Conversation, columns};
use crate::fault::Fault;
use crate::open::Store;

/// A claim by its two numbers, as everything that a turn writes names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hold {
    /// The conversation.
    pub conversation: ConversationId,
    /// The epoch that the claim began.
    pub epoch: Epoch,
}

/// A conversation that is ours to run until its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// As it stood when it was claimed; `attempts` counts this one.
    pub conversation: Conversation,
    /// What appends name.
    pub hold: Hold,
    /// 1 for a turn's first claim. Above, the process before died or gave up.
    pub attempt: u32,
}

/// How a conversation is given back without the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// On purpose: somebody else goes on at once, and the attempt does not count.
    Planned,
    /// No turn is open and none is due: nobody looks again until input comes.
    Idle {
        /// The last event that the holder knows. Where the log has gone on, this is [`Handover::Planned`].
        tail: Seq,
    },
    /// The turn could not go on here. The attempt counts, and nobody tries before the pause is over.
    Failed {
        /// At most a year.
        pause: Duration,
    },
}

/// What [`Store::renew`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// Not renewed: somebody else has them, or they are done. Their turns must stop.
    pub lost: Vec<ConversationId>,
    /// Renewed; somebody asked their turns to stop, which a lost hint may have kept from them.
    pub stopping: Vec<ConversationId>,
}

/// A lease could not be had, kept or given back.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody knows whether the claim was made; if so, it ends by itself.
    #[error("claim conversation {conversation}")]
    Claim {
        /// Which.
        conversation: ConversationId,
        /// What failed.
        #[source]
        fault: Fault,
    },
    /// Leases were not renewed, or nobody knows whether they were.
    #[error("renew the leases of {owner}")]
    Renew {
        /// Whose.
        owner: String,
        /// What failed.
        #[source]
        fault: Fault,
    },
    /// The conversation was not given back, or nobody knows whether it was; if not, its lease ends by itself.
    #[error("give conversation {conversation} back")]
    Release {
        /// Which.
        conversation: ConversationId,
        /// What failed.
        #[source]
        fault: Fault,
    },
    /// The sweep got no answer.
    #[error("look for conversations to run")]
    Sweep(#[source] Fault),
}

impl Error {
    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        let (Self::Claim { fault, .. } | Self::Renew { fault, .. } | Self::Release { fault, .. } | Self::Sweep(fault)) = self;
        fault.is_retryable()
    }
}

/// Due, held by nobody, and meant to run. The same words in the claim and in the sweep.
macro_rules! runnable {
    () => {
        "wake_at <= now() and (lease_until is null or lease_until < now()) and not suspended and state <> 'done'"
    };
}

impl Store {
    /// Takes the conversation for `ttl`; none where it is not runnable, or somebody was faster.
    pub async fn claim(&self, conversation: ConversationId, owner: &str, ttl: Duration) -> Result<Option<Claim>, Error> {
        let row = sqlx::query(concat!(
            "update conversation set epoch = epoch + 1, owner = $2, lease_until = now() + $3 * interval '1 microsecond',
                 attempts = least(attempts, 2147483646) + 1, state = case state when 'idle' then 'running' else state end
             where id = $1 and ",
            runnable!(),
            " returning ",
            columns!()
        ));
        let question = async {
            let row = row.bind(conversation.0).bind(owner).bind(micros(ttl)).fetch_optional(&self.pool).await?;
            row.as_ref().map(Conversation::from_row).transpose()
        };
        let claimed = self.ask(question).await.map_err(|fault| Error::Claim { conversation, fault })?;
        Ok(claimed.map(|conversation| Claim {
            hold: Hold { conversation: conversation.id, epoch: conversation.epoch },
            attempt: conversation.attempts,
            conversation,
        }))
    }

    /// Holds on to claims for another `ttl` from now, and says what became of them meanwhile. A lease that ran out and that
    /// nobody else took is renewed like any other.
    pub async fn renew(&self, owner: &str, holds: &[Hold], ttl: Duration) -> Result<Renewed, Error> {
        let rows = sqlx::query_as::<_, (Uuid, bool)>(
            "with locked as (
                 select c.id from conversation c join unnest($1::uuid[], $2::bigint[]) as held(id, epoch) using (id, epoch)
                 where c.owner = $3 order by c.id for no key update of c
             )
             update conversation c set lease_until = now() + $4 * interval '1 microsecond' from locked where c.id = locked.id
             returning c.id, c.state = 'stopping'",
        );
        let ids: Vec<Uuid> = holds.iter().map(|hold| hold.conversation.0).collect();
        let epochs: Vec<i64> = holds.iter().map(|hold| signed(hold.epoch.0)).collect();
        let rows = rows.bind(ids).bind(epochs).bind(owner).bind(micros(ttl)).fetch_all(&self.pool);
        let kept = self.ask(rows).await.map_err(|fault| Error::Renew { owner: owner.to_owned(), fault })?;
        let kept: HashMap<Uuid, bool> = kept.into_iter().collect();
        let of = |wanted: Option<bool>| {
            let held = holds.iter().map(|hold| hold.conversation);
            held.filter(|conversation| kept.get(&conversation.0).copied() == wanted).collect()
        };
        Ok(Renewed { lost: of(None), stopping: of(Some(true)) })
    }

    /// Gives a conversation back in the middle of its turn. Does nothing where the claim is not the row's any more.
    pub async fn release(&self, hold: Hold, handover: Handover) -> Result<(), Error> {
        let (pause, counted, idle_at) = match handover {
            Handover::Planned => (Duration::ZERO, 0, None),
            Handover::Idle { tail } => (Duration::ZERO, 0, Some(signed(tail.next().0))),
            Handover::Failed { pause } => (pause, 1, None),
        };
        let row = sqlx::query(
            "update conversation set owner = null, lease_until = null,
                 wake_at = case when next_seq = $5 then null else now() + $3 * interval '1 microsecond' end,
                 state = case when next_seq = $5 then 'idle' else state end,
                 attempts = greatest(attempts - 1 + $4, 0)
             where id = $1 and epoch = $2 and state <> 'done'",
        );
        let row = row.bind(hold.conversation.0).bind(signed(hold.epoch.0)).bind(micros(pause)).bind(counted).bind(idle_at);
        let row = row.execute(&self.pool);
        self.ask(row).await.map_err(|fault| Error::Release { conversation: hold.conversation, fault })?;
        Ok(())
    }

    /// The sweep behind every hint: conversations that could be claimed, those that wait longest first.
    pub async fn runnable(&self, limit: u32) -> Result<Vec<ConversationId>, Error> {
        let rows = sqlx::query_scalar(concat!("select id from conversation where ", runnable!(), " order by wake_at limit $1"));
        let rows = self.ask(rows.bind(i64::from(limit)).fetch_all(&self.pool)).await.map_err(Error::Sweep)?;
        Ok(rows.into_iter().map(ConversationId).collect())
    }
}
