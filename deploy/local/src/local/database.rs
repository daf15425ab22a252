//! Keeps the private Postgres running while Thetis runs: started again where it ends by itself, stopped at the end.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use thetis_postgres::{Durability, Error, Postgres};

/// Between looks whether it still runs. The store tries again for longer than this and a start take together.
const LOOK: Duration = Duration::from_millis(200);

/// Where root may put what another account has to reach.
const OUTSIDE: &str = "/var/lib/thetis";

/// The database of one data folder.
#[derive(Debug)]
pub struct Database {
    url: String,
    /// Dropped to stop it.
    stop: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

impl Database {
    /// Starts it. Blocks until it answers.
    pub fn start(folder: &Path) -> Result<Self, Error> {
        let server = match Postgres::start(folder, Durability::Durable) {
            Err(unreachable @ Error::Unreachable { .. }) => {
                move_out(folder).map_err(|_| unreachable)?;
                Postgres::start(folder, Durability::Durable)?
            }
            started => started?,
        };
        let url = server.url();
        let (stop, stopped) = mpsc::channel::<()>();
        let folder = folder.to_owned();
        let keeper = thread::Builder::new().name("postgres".to_owned()).spawn(move || keep(server, &folder, &stopped));
        let keeper = keeper.map_err(|cause| Error::Run { program: PathBuf::from("a thread"), cause })?;
        Ok(Self { url, stop: Some(stop), keeper: Some(keeper) })
    }

    /// How the store reaches it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Database {
    /// Stops it. Blocks until it has ended.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// Leaves a link at `folder`, which is empty, to a folder that everybody can get to. Root's home is closed to the account
/// that Postgres runs as for root, and that is where a root user's checkout is.
fn move_out(folder: &Path) -> io::Result<()> {
    let outside = Path::new(OUTSIDE).join(format!("postgres-{}", uuid::Uuid::new_v4()));
    std::fs::create_dir_all(&outside)?;
    std::fs::remove_dir(folder)?;
    symlink(&outside, folder)?;
    tracing::info!(folder = %outside.display(), "the database's account cannot reach the data folder; the database is elsewhere");
    Ok(())
}

fn keep(mut server: Postgres, folder: &Path, stopped: &mpsc::Receiver<()>) {
    while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if server.is_running() {
            continue;
        }
        tracing::warn!("Postgres has ended by itself; starting it again");
        match Postgres::start(folder, Durability::Durable) {
            Ok(again) => {
                server = again;
                tracing::info!("Postgres runs again");
            }
            Err(cause) => tracing::error!(error = &cause as &dyn std::error::Error, "Postgres does not start; trying again"),
        }
    }
    server.stop();
}
