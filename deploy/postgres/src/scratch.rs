//! A server to throw away: in a temporary folder that is removed when the server ends, however that comes about. For tests.

use std::io;
use std::path::Path;
use std::process::Command;

use crate::binaries::Binaries;
use crate::server::{Durability, Error, Postgres, choose, initialise};
use crate::user::Account;

impl Postgres {
    /// Starts a server on data of its own that nobody will miss. Making the data takes a second of a processor, so `cache`
    /// may name a folder where it is kept, empty, for the next one to copy.
    pub fn scratch(cache: Option<&Path>) -> Result<Self, Error> {
        let prepare = |cause| Error::Prepare { folder: std::env::temp_dir(), cause };
        let folder = tempfile::Builder::new().prefix("thetis-scratch-").tempdir().map_err(prepare)?;
        let account = Account::choose().ok_or(Error::NoAccount)?;
        account.own(folder.path()).map_err(prepare)?;
        let data = folder.path().join("data");
        if let Some(cache) = cache {
            let binaries = choose(Binaries::found(), &data)?;
            let kept = cache.join(format!("postgres-{}-{}", binaries.major, account.uid));
            if !kept.exists() {
                keep(&account, &binaries, &kept)?;
            }
            copy(&kept, &data).map_err(prepare)?;
        }
        let server = Self::launch(folder.path(), Durability::Discardable, Some(folder.path()))?;
        // From here on the server's own end removes it.
        let _ = folder.keep();
        Ok(server)
    }
}

/// Makes the data once. Two processes or threads may do so at the same time; the second to finish throws its own away.
fn keep(account: &Account, binaries: &Binaries, kept: &Path) -> Result<(), Error> {
    let prepare = |cause| Error::Prepare { folder: kept.to_owned(), cause };
    let made = tempfile::tempdir().map_err(prepare)?;
    account.own(made.path()).map_err(prepare)?;
    initialise(account, binaries, made.path(), Durability::Discardable)?;
    let parent = kept.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(prepare)?;
    let aside = tempfile::tempdir_in(parent).map_err(prepare)?;
    let copied = aside.path().join("data");
    copy(&made.path().join("data"), &copied).map_err(prepare)?;
    match std::fs::rename(copied, kept) {
        Err(_) if kept.exists() => Ok(()),
        renamed => renamed.map_err(prepare),
    }
}

/// `cp -a`: the owner has to stay.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("cp -a ended with {status}"))) }
}
