//! The registry: which component every aspect of a namespace runs, and ran. IO. Whether a component is fit to run is decided
//! before it comes here.

use serde::{Deserialize, Serialize};
use sqlx::PgConnection;
use thetis_core::event::Timestamp;
use thetis_core::id::Digest;
use thetis_core::settings::{AspectKind, Grants};
use thetis_core::tool::Manifest;

use crate::column::{At, small};
use crate::fault::Fault;
use crate::open::Store;

/// A component that is to be an aspect's next revision.
#[derive(Clone, Debug)]
pub struct NewRevision {
    /// The aspect's namespace.
    pub namespace: String,
    /// What it is.
    pub kind: AspectKind,
    /// Its name among those of its kind.
    pub name: String,
    /// What it may reach: the aspect's, whatever its revision.
    pub grants: Grants,
    /// The component's bytes.
    pub component: bytes::Bytes,
    /// What a tool's component says it is.
    pub manifest: Option<Manifest>,
}

/// What an aspect runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Active {
    /// The aspect's name.
    pub name: String,
    /// The number of its revision, from 1.
    pub revision: u32,
    /// Whose bytes are a blob.
    pub component: Digest,
    /// What it may reach.
    pub grants: Grants,
    /// A tool's.
    pub manifest: Option<Manifest>,
}

/// Which revision every aspect of a namespace ran from a moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// From 1.
    pub number: u32,
    /// The moment.
    pub at: Timestamp,
    /// By kind and name.
    pub aspects: Vec<Ran>,
}

/// An aspect's line in a [`Snapshot`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ran {
    /// What it is.
    pub kind: AspectKind,
    /// Its name.
    pub name: String,
    /// The revision it ran.
    pub revision: u32,
}

/// The registry could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The component is larger than a blob may be.
    #[error("the component of {kind} {name} has {bytes} bytes, which is too large")]
    TooLarge {
        /// What it is.
        kind: &'static str,
        /// Its name.
        name: String,
        /// How many.
        bytes: usize,
    },
    /// Nothing was registered, or nobody knows whether it was; registering the same again is safe.
    #[error("register {kind} {name} of namespace {namespace}")]
    Write {
        /// The namespace.
        namespace: String,
        /// What it is.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What failed.
        #[source]
        fault: Fault,
    },
    /// The database failed.
    #[error("read the aspects of namespace {namespace}")]
    Read {
        /// The namespace.
        namespace: String,
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
    /// Makes the component the aspect's active revision, in one commit with the snapshot of what every aspect runs then, and
    /// returns the revision's number. A component that is active already makes no revision; only its grants are renewed.
    pub async fn register(&self, new: &NewRevision) -> Result<u32, Error> {
        let (kind, name) = (column(new.kind), || new.name.clone());
        let bytes = new.component.len();
        if bytes > crate::blob::MAX_BYTES {
            return Err(Error::TooLarge { kind, name: name(), bytes });
        }
        let question = async {
            let mut transaction = self.pool.begin().await?;
            // One at a time: revisions and snapshots are numbered without gaps.
            let lock = sqlx::query("select pg_advisory_xact_lock(hashtext('thetis registry'), hashtext($1))");
            lock.bind(&new.namespace).execute(&mut *transaction).await?;
            let number = register(&mut transaction, new).await?;
            transaction.commit().await?;
            Ok(number)
        };
        self.ask(question).await.map_err(|fault| Error::Write { namespace: new.namespace.clone(), kind, name: name(), fault })
    }

    /// What the aspect runs; none where there is no such aspect.
    pub async fn active(&self, namespace: &str, kind: AspectKind, name: &str) -> Result<Option<Active>, Error> {
        Ok(self.actives(namespace, kind, Some(name)).await?.pop())
    }

    /// Every tool of the namespace, by the aspect's name.
    pub async fn active_tools(&self, namespace: &str) -> Result<Vec<Active>, Error> {
        self.actives(namespace, AspectKind::Tool, None).await
    }

    /// The snapshots of the namespace, newest first.
    pub async fn snapshots(&self, namespace: &str, limit: u32) -> Result<Vec<Snapshot>, Error> {
        let rows = sqlx::query_as::<_, (i32, At, String)>(
            "select number, at, aspects::text from snapshot where namespace = $1 order by number desc limit $2",
        );
        let question = async {
            let rows = rows.bind(namespace).bind(i64::from(limit)).fetch_all(&self.pool).await?;
            let snapshot = |(number, at, aspects): (i32, At, String)| {
                Ok(Snapshot { number: small(number.into()), at: at.0, aspects: parse("aspects", &aspects)? })
            };
            rows.into_iter().map(snapshot).collect()
        };
        self.ask(question).await.map_err(|fault| Error::Read { namespace: namespace.to_owned(), fault })
    }

    async fn actives(&self, namespace: &str, kind: AspectKind, name: Option<&str>) -> Result<Vec<Active>, Error> {
        type Row = (String, i32, Vec<u8>, String, Option<String>);
        let rows = sqlx::query_as::<_, Row>(
            "select name, active, component, grants::text, manifest::text
             from aspect a join revision r using (namespace, kind, name)
             where a.active = r.number and namespace = $1 and kind = $2 and ($3::text is null or name = $3) order by name",
        );
        let question = async {
            let rows = rows.bind(namespace).bind(column(kind)).bind(name).fetch_all(&self.pool).await?;
            let active = |(name, active, component, grants, manifest): Row| {
                Ok(Active {
                    name,
                    revision: small(active.into()),
                    component: digest(&component)?,
                    grants: parse("grants", &grants)?,
                    manifest: manifest.map(|manifest| parse("manifest", &manifest)).transpose()?,
                })
            };
            rows.into_iter().map(active).collect()
        };
        self.ask(question).await.map_err(|fault| Error::Read { namespace: namespace.to_owned(), fault })
    }
}

async fn register(connection: &mut PgConnection, new: &NewRevision) -> Result<u32, sqlx::Error> {
    let (kind, component) = (column(new.kind), Digest::of(&new.component));
    let grants = json(&new.grants);
    let active = sqlx::query_as::<_, (i32, Vec<u8>, String)>(
        "select active, component, grants::text from aspect a join revision r using (namespace, kind, name)
         where a.active = r.number and namespace = $1 and kind = $2 and name = $3",
    );
    let active = active.bind(&new.namespace).bind(kind).bind(&new.name).fetch_optional(&mut *connection).await?;
    if let Some((number, active, granted)) = active
        && active == component.as_bytes()
    {
        if granted != grants {
            let renew = sqlx::query("update aspect set grants = $4::json where namespace = $1 and kind = $2 and name = $3");
            renew.bind(&new.namespace).bind(kind).bind(&new.name).bind(grants).execute(connection).await?;
        }
        return Ok(small(number.into()));
    }
    crate::blob::insert(connection, component, &new.component).await?;
    let number = sqlx::query_scalar::<_, i32>(
        "insert into revision (namespace, kind, name, number, component, manifest)
         select $1, $2, $3, coalesce(max(number), 0) + 1, $4, $5::json from revision where namespace = $1 and kind = $2 and name = $3
         returning number",
    );
    let number = number.bind(&new.namespace).bind(kind).bind(&new.name).bind(component.as_bytes());
    let number = number.bind(new.manifest.as_ref().map(json)).fetch_one(&mut *connection).await?;
    let activate = sqlx::query(
        "insert into aspect (namespace, kind, name, active, grants) values ($1, $2, $3, $4, $5::json)
         on conflict (namespace, kind, name) do update set active = excluded.active, grants = excluded.grants",
    );
    activate.bind(&new.namespace).bind(kind).bind(&new.name).bind(number).bind(grants).execute(&mut *connection).await?;
    take_snapshot(connection, &new.namespace).await?;
    Ok(small(number.into()))
}

async fn take_snapshot(connection: &mut PgConnection, namespace: &str) -> Result<(), sqlx::Error> {
    let take = sqlx::query(
        "insert into snapshot (namespace, number, aspects)
         select $1, (select coalesce(max(number), 0) + 1 from snapshot where namespace = $1),
                json_agg(json_build_object('kind', kind, 'name', name, 'revision', active) order by kind, name)
         from aspect where namespace = $1",
    );
    take.bind(namespace).execute(connection).await?;
    Ok(())
}

const fn column(kind: AspectKind) -> &'static str {
    match kind {
        AspectKind::Agent => "agent",
        AspectKind::Gateway => "gateway",
        AspectKind::Tool => "tool",
    }
}

fn json<T: Serialize>(value: &T) -> String {
    // Strings, numbers and JSON values: they cannot fail to be JSON.
    serde_json::to_string(value).unwrap_or_default()
}

fn parse<T: serde::de::DeserializeOwned>(column: &str, text: &str) -> Result<T, sqlx::Error> {
    serde_json::from_str(text).map_err(|source| sqlx::Error::ColumnDecode { index: column.into(), source: source.into() })
}

fn digest(bytes: &[u8]) -> Result<Digest, sqlx::Error> {
    let bytes = bytes.try_into().map_err(|source| sqlx::Error::ColumnDecode { index: "component".into(), source: Box::new(source) })?;
    Ok(Digest::from_bytes(bytes))
}
