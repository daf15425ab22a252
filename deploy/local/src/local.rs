//! `thetis local`: one process that is all of Thetis. It takes the operator's place, with a folder for the Kubernetes API,
//! and starts the same runtime that a pod starts.

mod apply;
mod database;
mod keyfile;
mod lock;
mod watch;

use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use thetis_core::key::Key;
use thetis_operator_core::Resolved;
use thetis_runtime::artifact::Compiler;
use thetis_runtime::guest::Places;
use thetis_runtime::kernel::{self, Kernel};
use thetis_runtime::{artifact, ingress, worker};
use thetis_store::Store;
use thetis_store::hint::Hints;
use thetis_store::seal::SealingKey;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::documents;
use database::Database;
use watch::Watch;

/// The argument that makes the binary `thetis` the compiling process.
pub const COMPILE: &str = "compile-component";

/// Runs Thetis on this machine, in one process
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Folder (or file) with the objects, as `kubectl apply -f` would take them; edits are noticed
    #[arg(short = 'f', long = "filename", value_name = "FOLDER")]
    objects: PathBuf,
    /// Folder for the database and the keys; made where it is missing
    #[arg(long, value_name = "FOLDER", default_value = ".thetis/local")]
    data: PathBuf,
    /// Address of the API; it has to be one of this machine alone, since nobody is asked who they are
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7777")]
    bind: SocketAddr,
    /// Folder with the components of builtin aspects [default: `aspects` beside this program, else aspects/target/components]
    #[arg(long, value_name = "FOLDER")]
    aspects: Option<PathBuf>,
}

/// Thetis does not run, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API would be open to others.
    #[error("--bind {0}: the API asks nobody who they are, so it is served on loopback only, for example 127.0.0.1:7777")]
    NotLoopback(SocketAddr),
    /// The folder of objects.
    #[error("the objects in {} are not in order", folder.display())]
    Objects {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        #[source]
        cause: documents::Error,
    },
    /// The environment's key.
    #[error("the environment variable OPENROUTER_API_KEY is set and is no key; set it to one, or unset it")]
    AmbientKey(#[source] thetis_core::key::NotAKey),
    /// The objects, into force.
    #[error("the objects are not in force")]
    Apply(#[source] apply::Error),
    /// The data folder.
    #[error("take the data folder")]
    Lock(#[source] lock::Error),
    /// Its keys.
    #[error("read the data folder's keys")]
    Keys(#[source] keyfile::Error),
    /// The private Postgres.
    #[error("start the database")]
    Database(#[source] thetis_postgres::Error),
    /// The tables.
    #[error("open the database")]
    Store(#[source] thetis_store::open::Error),
    /// What turns need.
    #[error("make ready to run turns")]
    Kernel(#[source] kernel::Error),
    /// This program's own path.
    #[error("find this program, which also compiles guests")]
    Program(#[source] io::Error),
    /// The API's address.
    #[error("listen on {address}; another process may have it, and --bind names another")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
}

/// How long a claim outlives this process. Nobody else runs turns on this data, so it need not cover for a slow network;
/// after a crash it is what an interrupted turn waits for.
const LEASE: Duration = Duration::from_secs(3);

/// Between looks for work that no hint told of.
const SWEEP: Duration = Duration::from_secs(1);

/// For turns to come to a place where they can be handed over, once everything is to stop.
const DRAIN: Duration = Duration::from_secs(20);

/// Runs until `stop`; then turns are parked, and the database is stopped.
pub async fn run(options: &Options, stop: CancellationToken) -> Result<(), Error> {
    if !options.bind.ip().is_loopback() {
        return Err(Error::NotLoopback(options.bind));
    }
    let components = options.components();
    let resolved = options.read()?;
    apply::check(&resolved, &components).map_err(Error::Apply)?;
    let _lock = lock::take(&options.data).map_err(Error::Lock)?;
    let key = |name| keyfile::key(&options.data, name).map_err(Error::Keys);
    let (sealing_key, code_key) = (SealingKey::new(key("seal.key")?), artifact::Key::new(key("code.key")?));
    // Before anything slow: whoever asks for a taken address hears of it at once.
    let listener = TcpListener::bind(options.bind).await;
    let listener = listener.map_err(|cause| Error::Listen { address: options.bind, cause })?;

    let folder = options.data.join("postgres");
    // Starting and stopping wait for another process.
    let database = tokio::task::block_in_place(|| Database::start(&folder)).map_err(Error::Database)?;
    let store = Store::open(thetis_store::open::Options::new(database.url(), sealing_key)).await.map_err(Error::Store)?;
    let guests = kernel::Options {
        cache: options.data.join("code"),
        key: code_key,
        compiler: Compiler::new(std::env::current_exe().map_err(Error::Program)?, vec![COMPILE.into()]),
        places: Places::default(),
    };
    let kernel = Arc::new(Kernel::open(store, Hints::local(), guests).map_err(Error::Kernel)?);
    apply::apply(&kernel, resolved.clone(), &components).await.map_err(Error::Apply)?;
    serve(options, &components, resolved, kernel, listener, stop).await;
    tokio::task::block_in_place(|| drop(database));
    Ok(())
}

/// Everything that goes on at once, until `stop`.
async fn serve(
    options: &Options,
    components: &Path,
    applied: Resolved,
    kernel: Arc<Kernel>,
    listener: TcpListener,
    stop: CancellationToken,
) {
    let address = listener.local_addr().unwrap_or(options.bind);
    let api = ingress::Options { store: kernel.store.clone(), hints: kernel.hints.clone(), hosts: hosts(address) };
    let owner = format!("local-{}", uuid::Uuid::new_v4());
    let workers = worker::Options { lease: LEASE, sweep: SWEEP, ..worker::Options::new(owner) };
    // For programs: the one line of standard output. Where nobody reads it, that is no reason to stop.
    let _ = writeln!(io::stdout(), "Thetis serves http://{address}");
    tracing::info!(%address, objects = %options.objects.display(), "ready");
    let work = async {
        tokio::join!(
            ingress::serve(listener, api, stop.clone()),
            worker::run(kernel.clone(), workers, stop.clone()),
            follow(options, components, applied, &kernel, &stop),
        )
    };
    let overdue = async {
        stop.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        _ = work => tracing::info!("stopped"),
        () = overdue => tracing::warn!("stopped in the middle of turns; they go on at the next start"),
    }
}

/// Applies edits of the folder. One that is not in order changes nothing: what was good stays in force.
async fn follow(options: &Options, components: &Path, mut applied: Resolved, kernel: &Kernel, stop: &CancellationToken) {
    let watch = Watch::new(&options.objects);
    let mut complaint = String::new();
    while stop.run_until_cancelled(watch.changed()).await.is_some() {
        let outcome = match options.read() {
            Ok(resolved) if resolved == applied => Ok(()),
            Ok(resolved) => match apply::apply(kernel, resolved.clone(), components).await {
                Ok(()) => {
                    applied = resolved;
                    Ok(())
                }
                Err(cause) => Err(Error::Apply(cause)),
            },
            Err(cause) => Err(cause),
        };
        // Said once, not at every look.
        let text = outcome.as_ref().err().map(chain).unwrap_or_default();
        if text != complaint {
            if text.is_empty() {
                tracing::info!("the objects are in order again");
            } else {
                tracing::error!(mistakes = %text, "an edit is not in force, and what was before it stays");
            }
            complaint = text;
        }
    }
}

/// An error with its causes.
fn chain(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

impl Options {
    fn read(&self) -> Result<Resolved, Error> {
        // A file of secrets may be the only place that names a key; the variable is for who has none.
        let ambient = std::env::var("OPENROUTER_API_KEY").ok().map(|text| Key::new(&text)).transpose().map_err(Error::AmbientKey)?;
        documents::load(&self.objects, ambient).map_err(|cause| Error::Objects { folder: self.objects.clone(), cause })
    }

    fn components(&self) -> PathBuf {
        let beside = || Some(std::env::current_exe().ok()?.parent()?.join("aspects")).filter(|folder| folder.is_dir());
        self.aspects.clone().or_else(beside).unwrap_or_else(|| PathBuf::from("aspects/target/components"))
    }
}

/// The names that a request may give to this machine.
fn hosts(bound: SocketAddr) -> Vec<String> {
    let own = [bound.ip(), IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let own = own.map(|address| SocketAddr::new(address, bound.port()).to_string());
    own.into_iter().chain([format!("localhost:{}", bound.port())]).collect()
}
