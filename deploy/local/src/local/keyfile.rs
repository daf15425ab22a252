//! The keys of one data folder: made once, each kept in a file that only its owner reads.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The key could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be made or read.
    #[error("use {path} as a key")]
    Use {
        /// The file.
        path: PathBuf,
        /// What failed.
        #[source]
        cause: io::Error,
    },
    /// Others may read it, or it is not a key.
    #[error("{path} {what}; move it away to have a new key made: all that the old one protects is made again, too")]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// The key in `folder/name`, made where there is none.
pub fn key(folder: &Path, name: &str) -> Result<[u8; 32], Error> {
    let path = folder.join(name);
    let failed = |cause| Error::Use { path: path.clone(), cause };
    let file = match OpenOptions::new().read(true).open(&path) {
        Ok(file) => file,
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => return make(&path).map_err(failed),
        Err(cause) => return Err(failed(cause)),
    };
    let unfit = |what| Error::Unfit { path: path.clone(), what };
    if file.metadata().map_err(failed)?.permissions().mode() & 0o077 != 0 {
        return Err(unfit("may be read by others"));
    }
    let mut key = Vec::new();
    file.take(33).read_to_end(&mut key).map_err(failed)?;
    key.try_into().map_err(|_| unfit("does not hold 32 bytes"))
}

/// Written aside and moved into place, so that a crash leaves a whole key or none.
fn make(path: &Path) -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    let aside = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    file.write_all(&key)?;
    file.sync_all()?;
    std::fs::rename(&aside, path)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_stays_the_same_and_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let made = key(folder.path(), "seal.key").unwrap();
        assert_eq!(key(folder.path(), "seal.key").unwrap(), made);
        let path = folder.path().join("seal.key");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(key(folder.path(), "seal.key").unwrap_err().to_string().contains("may be read by others"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, b"short").unwrap();
        assert!(key(folder.path(), "seal.key").unwrap_err().to_string().contains("does not hold 32 bytes"));
    }
}
