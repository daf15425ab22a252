//! Settings of a namespace: put as a whole by the control plane, read by name when a turn begins. IO.

use std::collections::BTreeMap;

use sqlx::PgConnection;
use thetis_core::id::Digest;
use thetis_core::settings::{Choice, Mode, Model, Resolved, Skill};

use crate::fault::Fault;
use crate::open::Store;
use crate::seal::{Place, Sealed, SealingKey, Secret};

mod change;

use change::{Entry, Kept, changes};

/// All settings of a namespace, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsSet {
    /// Modes.
    pub modes: BTreeMap<String, Mode>,
    /// Skills.
    pub skills: BTreeMap<String, Skill>,
    /// Models, each with its key where it wants one.
    pub models: BTreeMap<String, (Model, Option<Secret>)>,
}

/// What a turn runs with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnSettings {
    /// The mode.
    pub mode: Resolved<Mode>,
    /// The model.
    pub model: Resolved<Model>,
    /// The model's key.
    pub key: Option<Secret>,
    /// The skills, in the order of the choice.
    pub skills: Vec<Resolved<Skill>>,
}

/// The three kinds of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// [`Mode`].
    Mode,
    /// [`Model`].
    Model,
    /// [`Skill`].
    Skill,
}

impl Kind {
    /// As people read it and the column holds it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Model => "model",
            Self::Skill => "skill",
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Settings could not be put or had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The namespace has none of this name.
    #[error("namespace {namespace} has no {kind} {name}")]
    Missing {
        /// The namespace.
        namespace: String,
        /// Of what.
        kind: Kind,
        /// The name.
        name: String,
    },
    /// Another version wrote it.
    #[error("{kind} {name} is not one this version can read")]
    Unreadable {
        /// Of what.
        kind: Kind,
        /// The name.
        name: String,
        /// What did not parse.
        #[source]
        cause: serde_json::Error,
    },
    /// The sealing key is another one than when the model's key was put.
    #[error("open the key of model {name}")]
    Key {
        /// The model.
        name: String,
        /// Why not.
        #[source]
        cause: Sealed,
    },
    /// The database failed.
    #[error("read the settings of namespace {namespace}")]
    Read {
        /// The namespace.
        namespace: String,
        /// What failed.
        #[source]
        fault: Fault,
    },
    /// Nothing was written, or nobody knows whether it was; putting the same again is safe.
    #[error("write the settings of namespace {namespace}")]
    Write {
        /// The namespace.
        namespace: String,
        /// What failed.
        #[source]
        fault: Fault,
    },
}

impl Error {
    /// Whether the same call may succeed later with nobody doing anything about it.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Read { fault, .. } | Self::Write { fault, .. } if fault.is_retryable())
    }
}

impl Store {
    /// Makes `set` the namespace's settings, in one commit. Returns whether anything changed; if not, nothing was written.
    pub async fn put_settings(&self, namespace: &str, set: &SettingsSet) -> Result<bool, Error> {
        let wanted = entries(set);
        let question = async {
            let mut transaction = self.pool.begin().await?;
            // Two control planes in turn, so that the second compares with what the first wrote.
            let lock = sqlx::query("select pg_advisory_xact_lock(hashtext('thetis settings'), hashtext($1))");
            lock.bind(namespace).execute(&mut *transaction).await?;
            let kept = kept(&mut transaction, &self.sealing_key, namespace).await?;
            let changes = changes(&kept, &wanted);
            if changes.is_empty() {
                return Ok(false);
            }
            write(&mut transaction, &self.sealing_key, namespace, &changes).await?;
            transaction.commit().await?;
            Ok(true)
        };
        self.ask(question).await.map_err(|fault| Error::Write { namespace: namespace.to_owned(), fault })
    }

    /// The settings that `choice` names, as they are now.
    pub async fn settings(&self, namespace: &str, choice: &Choice) -> Result<TurnSettings, Error> {
        let rows = sqlx::query_as::<_, Row>(
            "select kind, name, value::text, key from settings where namespace = $1
             and (kind = 'mode' and name = $2 or kind = 'model' and name = $3 or kind = 'skill' and name = any($4))",
        );
        let rows = rows.bind(namespace).bind(&choice.mode).bind(&choice.model).bind(&choice.skills).fetch_all(&self.pool);
        let rows = self.ask(rows).await.map_err(|fault| Error::Read { namespace: namespace.to_owned(), fault })?;
        let found = |kind: Kind, name: &str| {
            let missing = || Error::Missing { namespace: namespace.to_owned(), kind, name: name.to_owned() };
            rows.iter().find(|row| row.0 == kind.as_str() && row.1 == name).ok_or_else(missing)
        };
        let model = found(Kind::Model, &choice.model)?;
        let key = model.3.as_deref().map(|sealed| self.sealing_key.open(&place(namespace, &choice.model), sealed));
        Ok(TurnSettings {
            mode: resolved(Kind::Mode, found(Kind::Mode, &choice.mode)?)?,
            model: resolved(Kind::Model, model)?,
            key: key.transpose().map_err(|cause| Error::Key { name: choice.model.clone(), cause })?,
            skills: choice.skills.iter().map(|name| resolved(Kind::Skill, found(Kind::Skill, name)?)).collect::<Result<_, _>>()?,
        })
    }
}

/// Kind, name, value, sealed key.
type Row = (String, String, String, Option<Vec<u8>>);

fn place<'a>(namespace: &'a str, name: &'a str) -> Place<'a> {
    Place { namespace, kind: Kind::Model.as_str(), name }
}

fn resolved<T: serde::de::DeserializeOwned>(kind: Kind, (_, name, value, _): &Row) -> Result<Resolved<T>, Error> {
    let digest = Digest::of(value.as_bytes());
    let value = serde_json::from_str(value).map_err(|cause| Error::Unreadable { kind, name: name.clone(), cause })?;
    Ok(Resolved { name: name.clone(), digest, value })
}

fn entries(set: &SettingsSet) -> Vec<Entry> {
    fn entry<T: serde::Serialize>(kind: Kind, name: &str, value: &T, key: Option<&Secret>) -> Entry {
        // Settings are strings and numbers: they cannot fail to be JSON.
        Entry { kind, name: name.to_owned(), value: serde_json::to_string(value).unwrap_or_default(), key: key.cloned() }
    }
    let mut entries: Vec<Entry> = set.modes.iter().map(|(name, mode)| entry(Kind::Mode, name, mode, None)).collect();
    entries.extend(set.skills.iter().map(|(name, skill)| entry(Kind::Skill, name, skill, None)));
    entries.extend(set.models.iter().map(|(name, (model, key))| entry(Kind::Model, name, model, key.as_ref())));
    entries
}

/// What the namespace has. A key that does not open any more is as good as none: it will be put again.
async fn kept(connection: &mut PgConnection, key: &SealingKey, namespace: &str) -> Result<Vec<Kept>, sqlx::Error> {
    let rows = sqlx::query_as::<_, Row>("select kind, name, value::text, key from settings where namespace = $1");
    let rows = rows.bind(namespace).fetch_all(connection).await?;
    let kept = |(kind, name, value, sealed): Row| {
        let key = sealed.map(|sealed| key.open(&place(namespace, &name), &sealed));
        Kept { kind, name, value, key }
    };
    Ok(rows.into_iter().map(kept).collect())
}

async fn write(connection: &mut PgConnection, key: &SealingKey, namespace: &str, changes: &change::Changes<'_>) -> Result<(), sqlx::Error> {
    let gone = sqlx::query(
        "delete from settings using unnest($2::text[], $3::text[]) as gone(kind, name)
         where settings.namespace = $1 and settings.kind = gone.kind and settings.name = gone.name",
    );
    let (kinds, names): (Vec<&str>, Vec<&str>) = changes.gone.iter().copied().unzip();
    gone.bind(namespace).bind(kinds).bind(names).execute(&mut *connection).await?;
    for entry in &changes.put {
        let put = sqlx::query(
            "insert into settings (namespace, kind, name, value, key) values ($1, $2, $3, $4::json, $5)
             on conflict (namespace, kind, name) do update set value = excluded.value, key = excluded.key",
        );
        let sealed = entry.key.as_ref().map(|secret| key.seal(&place(namespace, &entry.name), secret));
        let put = put.bind(namespace).bind(entry.kind.as_str()).bind(&entry.name);
        put.bind(&entry.value).bind(sealed).execute(&mut *connection).await?;
    }
    Ok(())
}
