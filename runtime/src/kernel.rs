//! What a turn needs of the process that runs it: the log, the hint bus, the guests and the way to a model.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt as _;
use thetis_model::client;
use thetis_store::{Hints, Store};

use crate::artifact::{self, Artifacts, Compiler, Key};
use crate::engine::{self, Engine};
use crate::guest::{Guests, Places, Source};

/// One per process, shared by every turn.
pub struct Kernel {
    /// The database.
    pub store: Store,
    /// Hints, and the live text of running turns.
    pub hints: Hints,
    /// The components.
    pub guests: Guests,
    /// Talks to model endpoints.
    pub models: thetis_model::Client,
}

/// How guests are kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where compiled code is kept. It may be lost at any time.
    pub cache: PathBuf,
    /// This installation's own, which vouches for that code.
    pub key: Key,
    /// The process that compiles.
    pub compiler: Compiler,
    /// How many guests there may be.
    pub places: Places,
}

/// A kernel could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// wasmtime does not start.
    #[error("start the engine that runs guests")]
    Engine(#[source] engine::Error),
    /// Compiled code cannot be kept.
    #[error("open the cache of compiled guests")]
    Artifacts(#[source] artifact::Error),
    /// No HTTP client.
    #[error("make the client that talks to models")]
    Models(#[source] client::NotMade),
}

impl Kernel {
    /// A kernel over `store`, whose blobs are where components come from.
    pub fn open(store: Store, hints: Hints, options: Options) -> Result<Self, Error> {
        let engine = Engine::new(options.places.slots()).map_err(Error::Engine)?;
        let artifacts = Artifacts::open(engine.clone(), &options.cache, options.key, options.compiler).map_err(Error::Artifacts)?;
        let blobs = store.clone();
        let source: Source = Arc::new(move |digest| {
            let blobs = blobs.clone();
            async move { Ok(blobs.blob(digest).await?.map(Bytes::from)) }.boxed()
        });
        let guests = Guests::new(engine, artifacts, source, &options.places);
        let models = thetis_model::Client::new(client::Options::default()).map_err(Error::Models)?;
        Ok(Self { store, hints, guests, models })
    }
}
