//! Rows of `conversation`: made, declared, chosen, closed, looked at. IO. Who writes a log is `lease`, what is in it `log`.

use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};
use thetis_core::event::{Body, Timestamp, UserMessage};
use thetis_core::id::{ConversationId, Epoch, Seq};
use thetis_core::settings::Choice;
use thetis_core::title::title;
use thetis_core::usage::{Cost, Usage};

use crate::column::{At, signed, small, unsigned};
use crate::fault::Fault;
use crate::open::Store;

/// A conversation as its row stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its identity.
    pub id: ConversationId,
    /// Of its object.
    pub namespace: String,
    /// Of its object; unique in the namespace among conversations that are not done.
    pub name: String,
    /// From the first message, once there is one.
    pub title: Option<String>,
    /// What it does.
    pub state: State,
    /// Claimed by nobody until this is lifted.
    pub suspended: bool,
    /// What it runs with from the next turn on: what a person picked, else what is declared.
    pub choice: Choice,
    /// A turn is open or due: there is input that no ended turn took up.
    pub pending: bool,
    /// Counts its claims.
    pub epoch: Epoch,
    /// Who holds it, or held it when its lease ran out.
    pub owner: Option<String>,
    /// Its last event.
    pub tail: Seq,
    /// Claims since a turn last ended.
    pub attempts: u32,
    /// Of all its turns that ended.
    pub usage: Usage,
    /// When its row was made.
    pub created: Timestamp,
}

/// What a conversation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No turn is open.
    Idle,
    /// A turn is open, whether or not a process is at it just now.
    Running,
    /// Somebody asked the open turn to stop.
    Stopping,
    /// Over: it takes no input and nobody claims it. The log stays.
    Done,
}

impl State {
    /// As people read it and the column holds it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Done => "done",
        }
    }
}

/// A conversation to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// Its identity.
    pub id: ConversationId,
    /// Of its object.
    pub namespace: String,
    /// Of its object.
    pub name: String,
    /// Where somebody gave it one; else the first message does.
    pub title: Option<String>,
    /// As declared.
    pub choice: Choice,
    /// Its first event.
    pub prompt: Option<UserMessage>,
}

/// Whether [`Store::create`] made something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It did.
    Now,
    /// There was a conversation with this id, and it was left as it is.
    Before,
}

/// A conversation could not be made, changed or looked at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another conversation that is not done has the name.
    #[error("namespace {namespace} has a conversation {name} already")]
    NameTaken {
        /// The namespace.
        namespace: String,
        /// The name.
        name: String,
    },
    /// There is none with this id.
    #[error("there is no conversation {0}")]
    Unknown(ConversationId),
    /// Its row was not written.
    #[error("write conversation {conversation}")]
    Write {
        /// Which.
        conversation: ConversationId,
        /// What failed.
        #[source]
        fault: Fault,
    },
    /// Rows could not be read.
    #[error("read conversations")]
    Read(#[source] Fault),
}

impl Error {
    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Write { fault, .. } | Self::Read(fault) if fault.is_retryable())
    }
}

macro_rules! columns {
    () => {
        "id, namespace, name, title, state, suspended, wake_at is not null as pending, coalesce(chosen, declared)::text as choice, \
         epoch, owner, next_seq, attempts, created_at, steps, input, cache_read, cache_write, output, cost"
    };
}
pub(crate) use columns;

impl Store {
    /// Makes a conversation, its prompt being event 1 of the same commit. Idempotent by id: a second call changes nothing.
    pub async fn create(&self, new: &New) -> Result<Created, Error> {
        let write = |fault| Error::Write { conversation: new.id, fault };
        let title = new.title.clone().or_else(|| new.prompt.as_ref().and_then(title));
        let question = async {
            let mut transaction = self.pool.begin().await?;
            let made = sqlx::query(
                "insert into conversation (id, namespace, name, title, declared) values ($1, $2, $3, $4, $5::json) on conflict do nothing",
            );
            let made = made.bind(new.id.0).bind(&new.namespace).bind(&new.name).bind(title).bind(encode(&new.choice));
            if made.execute(&mut *transaction).await?.rows_affected() == 0 {
                let same = sqlx::query_scalar("select exists (select from conversation where id = $1)").bind(new.id.0);
                let same: bool = same.fetch_one(&mut *transaction).await?;
                return Ok(same.then_some(Created::Before));
            }
            if let Some(prompt) = &new.prompt {
                crate::log::insert_input(&mut transaction, new.id, &Body::UserMessage(prompt.clone()), None).await?;
            }
            transaction.commit().await?;
            Ok(Some(Created::Now))
        };
        let taken = || Error::NameTaken { namespace: new.namespace.clone(), name: new.name.clone() };
        self.ask(question).await.map_err(write)?.ok_or_else(taken)
    }

    /// What the object declares now. Where that is an edit, it ends whatever a person had picked; else nothing is written.
    /// Returns whether something was.
    pub async fn declare(&self, conversation: ConversationId, choice: &Choice) -> Result<bool, Error> {
        let question = async {
            let mut transaction = self.pool.begin().await?;
            let before = sqlx::query_scalar("select declared::text from conversation where id = $1 for no key update");
            let before: Option<String> = before.bind(conversation.0).fetch_optional(&mut *transaction).await?;
            let Some(before) = before else { return Ok(None) };
            // Compared as values: a version that writes the same choice in other words has edited nothing.
            if serde_json::from_str::<Choice>(&before).is_ok_and(|before| before == *choice) {
                return Ok(Some(false));
            }
            let edit = sqlx::query("update conversation set declared = $2::json, chosen = null where id = $1");
            edit.bind(conversation.0).bind(encode(choice)).execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(Some(true))
        };
        self.ask(question).await.map_err(|fault| Error::Write { conversation, fault })?.ok_or(Error::Unknown(conversation))
    }

    /// What a person picks at run time. It holds from the next turn on, until the declared choice is edited.
    pub async fn choose(&self, conversation: ConversationId, choice: &Choice) -> Result<(), Error> {
        let chosen = sqlx::query("update conversation set chosen = $2::json where id = $1").bind(conversation.0).bind(encode(choice));
        self.change(conversation, chosen).await
    }

    /// Keeps the conversation from being claimed, or lets it be claimed again. A turn that runs goes on to its end.
    pub async fn suspend(&self, conversation: ConversationId, suspended: bool) -> Result<(), Error> {
        let change = sqlx::query("update conversation set suspended = $2 where id = $1").bind(conversation.0).bind(suspended);
        self.change(conversation, change).await
    }

    /// Ends the conversation for good and fences whoever runs a turn of it. The log stays; the name is free.
    pub async fn finish(&self, conversation: ConversationId) -> Result<(), Error> {
        let change = sqlx::query(
            "update conversation set state = 'done', wake_at = null, owner = null, lease_until = null, epoch = epoch + 1 where id = $1",
        );
        self.change(conversation, change.bind(conversation.0)).await
    }

    /// Removes the conversation with its log and its notes, and so fences whoever runs a turn of it.
    pub async fn remove(&self, conversation: ConversationId) -> Result<(), Error> {
        // The row goes first: who writes to the log holds its lock, and finds no row afterwards.
        let question = async {
            let mut transaction = self.pool.begin().await?;
            let row = sqlx::query("delete from conversation where id = $1").bind(conversation.0).execute(&mut *transaction).await?;
            sqlx::query("delete from event where conversation = $1").bind(conversation.0).execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(row.rows_affected())
        };
        let removed = self.ask(question).await.map_err(|fault| Error::Write { conversation, fault })?;
        if removed == 0 { Err(Error::Unknown(conversation)) } else { Ok(()) }
    }

    /// The one of this name that is not done.
    pub async fn conversation(&self, namespace: &str, name: &str) -> Result<Option<Conversation>, Error> {
        let row =
            sqlx::query_as(concat!("select ", columns!(), " from conversation where namespace = $1 and name = $2 and state <> 'done'"));
        self.ask(row.bind(namespace).bind(name).fetch_optional(&self.pool)).await.map_err(Error::Read)
    }

    /// The one with this id, done or not.
    pub async fn conversation_by_id(&self, conversation: ConversationId) -> Result<Option<Conversation>, Error> {
        let row = sqlx::query_as(concat!("select ", columns!(), " from conversation where id = $1")).bind(conversation.0);
        self.ask(row.fetch_optional(&self.pool)).await.map_err(Error::Read)
    }

    /// Those of one namespace, or of all, by namespace and name; at most `limit`.
    pub async fn conversations(&self, namespace: Option<&str>, limit: u32) -> Result<Vec<Conversation>, Error> {
        let rows = sqlx::query_as(concat!(
            "select ",
            columns!(),
            " from conversation where $1::text is null or namespace = $1 order by namespace, name, id limit $2"
        ));
        self.ask(rows.bind(namespace).bind(i64::from(limit)).fetch_all(&self.pool)).await.map_err(Error::Read)
    }

    async fn change(
        &self,
        conversation: ConversationId,
        change: sqlx::query::Query<'_, sqlx::Postgres, sqlx::postgres::PgArguments>,
    ) -> Result<(), Error> {
        let changed = self.ask(change.execute(&self.pool)).await.map_err(|fault| Error::Write { conversation, fault })?;
        if changed.rows_affected() == 0 { Err(Error::Unknown(conversation)) } else { Ok(()) }
    }
}

fn encode(choice: &Choice) -> String {
    // A choice is strings and numbers: it cannot fail to be JSON.
    serde_json::to_string(choice).unwrap_or_default()
}

impl FromRow<'_, PgRow> for Conversation {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        let column = |index: &str, source: serde_json::Error| sqlx::Error::ColumnDecode { index: index.into(), source: source.into() };
        let count = |name: &str| row.try_get::<i64, _>(name).map(unsigned);
        let state: &str = row.try_get("state")?;
        let states = [State::Idle, State::Running, State::Stopping, State::Done];
        let state = states.into_iter().find(|known| known.as_str() == state);
        let state = state.ok_or_else(|| column("state", serde::de::Error::custom("unknown state")))?;
        Ok(Self {
            id: ConversationId(row.try_get("id")?),
            namespace: row.try_get("namespace")?,
            name: row.try_get("name")?,
            title: row.try_get("title")?,
            state,
            suspended: row.try_get("suspended")?,
            pending: row.try_get("pending")?,
            choice: serde_json::from_str(row.try_get("choice")?).map_err(|source| column("choice", source))?,
            epoch: Epoch(count("epoch")?),
            owner: row.try_get("owner")?,
            tail: Seq(count("next_seq")?.saturating_sub(1)),
            attempts: small(row.try_get::<i32, _>("attempts")?.into()),
            usage: Usage {
                steps: small(row.try_get("steps")?),
                input: count("input")?,
                cache_read: count("cache_read")?,
                cache_write: count("cache_write")?,
                output: count("output")?,
                cost: Cost(count("cost")?),
            },
            created: row.try_get::<At, _>("created_at")?.0,
        })
    }
}

/// The six columns of a usage, in the order of the table.
pub(crate) fn usage_columns(usage: &Usage) -> [i64; 6] {
    [usage.steps.into(), usage.input, usage.cache_read, usage.cache_write, usage.output, usage.cost.0].map(signed)
}
