//! From the bytes of a component, which are hostile, to code that this process runs: compiled by our own limited child
//! process, kept on disk under a key, loaded. The only `unsafe` of the system is here, and only code that the child made
//! and the key vouches for reaches it.

pub mod check;
pub mod child;
mod disk;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use thetis_core::id::Digest;
use tokio::sync::Semaphore;
use wasmtime::component::Component;

pub use self::child::Compiler;
use self::disk::Disk;
pub use self::disk::Key;
use crate::engine::Engine;

/// The largest component that is accepted, in bytes. The largest that a common toolchain makes (Python) has 18 MB.
pub const MAX_COMPONENT_BYTES: usize = 64 << 20;

/// Compilations at once; more wait. Each may use a core and a gigabyte.
const COMPILATIONS: usize = 2;

/// A component could not be made ready to run. The first four are the component's fault and will not pass by waiting.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Larger than [`MAX_COMPONENT_BYTES`].
    #[error("the component has {bytes} bytes; at most {MAX_COMPONENT_BYTES} are accepted")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// A core module, or no wasm at all.
    #[error("not a WebAssembly component")]
    NotAComponent,
    /// It does not validate, or uses a proposal that is not enabled. The text is wasmtime's.
    #[error("the component is not valid: {reason}")]
    Invalid {
        /// What is wrong with it, for people.
        reason: String,
    },
    /// The compiling process used up its processor time, memory or our patience on it, or broke.
    #[error("the component cannot be compiled ({ending})")]
    NotCompiled {
        /// How the compiling process ended.
        ending: String,
    },
    /// The bytes are not those that the digest names.
    #[error("the stored component {wanted} has the digest {found}")]
    WrongDigest {
        /// What was asked for.
        wanted: Digest,
        /// What the bytes have.
        found: Digest,
    },
    /// The compiling process could not be run.
    #[error("run the compiling process")]
    Run(#[source] std::io::Error),
    /// The compiling process compiles for another engine than this one: the binaries do not belong together.
    #[error("the compiling process is of another version than this one")]
    OtherVersion,
    /// The cache's folder cannot be used.
    #[error("use the code cache")]
    Disk(#[source] std::io::Error),
    /// wasmtime refuses code that we made and vouched for.
    #[error("load compiled code of {digest}")]
    Load {
        /// The component.
        digest: Digest,
        /// What wasmtime said.
        #[source]
        cause: wasmtime::Error,
    },
    /// The bytes of the component could not be had.
    #[error("fetch component {digest}")]
    Fetch {
        /// The component.
        digest: Digest,
        /// Why not.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Nothing has the bytes of the component.
    #[error("component {digest} is not stored")]
    Missing {
        /// The component.
        digest: Digest,
    },
}

impl Error {
    /// Whether the component itself is to blame, so that trying again is useless.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::NotAComponent | Self::Invalid { .. } | Self::NotCompiled { .. })
    }
}

/// Makes components ready. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Artifacts {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    engine: Engine,
    disk: Disk,
    compiler: Compiler,
    compilations: Semaphore,
}

impl Artifacts {
    /// Keeps compiled code in `folder`, which is created where missing and may be lost at any time. `key` is this
    /// installation's own; code that another key vouches for is compiled again.
    pub fn open(engine: Engine, folder: &Path, key: Key, compiler: Compiler) -> Result<Self, Error> {
        let disk = Disk::open(folder, key, &child::compatibility(engine.wasmtime())).map_err(Error::Disk)?;
        Ok(Self { shared: Arc::new(Shared { engine, disk, compiler, compilations: Semaphore::new(COMPILATIONS) }) })
    }

    /// The component with this digest, from the cache where it is there, else compiled from what `fetch` brings.
    pub async fn load<E, F>(&self, digest: Digest, fetch: F) -> Result<Component, Error>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Future<Output = Result<Option<Bytes>, E>>,
    {
        if let Some(component) = self.cached(digest).await {
            return Ok(component);
        }
        let bytes = fetch.await.map_err(|cause| Error::Fetch { digest, cause: cause.into() })?;
        let bytes = bytes.ok_or(Error::Missing { digest })?;
        let found = Digest::of(&bytes);
        if found == digest { self.compile(digest, bytes).await } else { Err(Error::WrongDigest { wanted: digest, found }) }
    }

    /// The component that these bytes are.
    pub async fn admit(&self, bytes: Bytes) -> Result<Component, Error> {
        let digest = Digest::of(&bytes);
        match self.cached(digest).await {
            Some(component) => Ok(component),
            None => self.compile(digest, bytes).await,
        }
    }

    /// None for everything that is not sound code of ours; the caller makes it anew.
    async fn cached(&self, digest: Digest) -> Option<Component> {
        let shared = Arc::clone(&self.shared);
        let loaded = tokio::task::spawn_blocking(move || {
            let code = shared.disk.read(digest)?;
            Some(deserialize(&shared.engine, digest, &code))
        });
        match loaded.await {
            Ok(Some(Ok(component))) => Some(component),
            Ok(Some(Err(error))) => {
                tracing::warn!(%digest, error = &error as &dyn std::error::Error, "cached code does not load");
                None
            }
            Ok(None) | Err(_) => None,
        }
    }

    async fn compile(&self, digest: Digest, bytes: Bytes) -> Result<Component, Error> {
        // The semaphore is never closed; without a permit there is only less order.
        let _permit = self.shared.compilations.acquire().await.ok();
        let code = self.shared.compiler.compile(self.shared.engine.wasmtime(), bytes).await?;
        let shared = Arc::clone(&self.shared);
        let loaded = tokio::task::spawn_blocking(move || {
            if let Err(error) = shared.disk.write(digest, &code) {
                tracing::warn!(%digest, error = &error as &dyn std::error::Error, "compiled code is not cached");
            }
            deserialize(&shared.engine, digest, &Vouched(code))
        });
        loaded.await.map_err(|join| Error::Run(std::io::Error::other(join)))?
    }
}

/// Code that our own compiling process made: it came from its output, or from a file that the installation's key vouches
/// for.
struct Vouched(Vec<u8>);

fn deserialize(engine: &Engine, digest: Digest, code: &Vouched) -> Result<Component, Error> {
    #[expect(unsafe_code, reason = "loading compiled code is unsafe by nature; this is the one place")]
    // SAFETY: `deserialize` asks for bytes that wasmtime's own compiler produced. A `Vouched` is made in two places only:
    // from the output of the compiling process that we started from our own binary, and from a file whose HMAC under the
    // installation's key was checked over exactly these bytes, in memory, where nobody can change them afterwards.
    // wasmtime itself checks version and settings.
    let loaded = unsafe { Component::deserialize(engine.wasmtime(), &code.0) };
    loaded.map_err(|cause| Error::Load { digest, cause })
}
