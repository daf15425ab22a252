//! One process per data folder. The lock is the operating system's, so it goes when its holder goes, however that comes
//! about; the number in the file is only for the message.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// The data folder could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has it.
    #[error("{folder} is in use by another `thetis local`{holder}; stop that one, or name another folder by --data")]
    Taken {
        /// The data folder.
        folder: PathBuf,
        /// ` (process 123)`, where that is known.
        holder: String,
    },
    /// The folder or the file cannot be used.
    #[error("use {path} as the lock of the data folder")]
    Use {
        /// The file.
        path: PathBuf,
        /// What failed.
        #[source]
        cause: io::Error,
    },
}

/// Held as long as this value lives.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the file's being open is the lock")] File);

/// Takes `folder`, making it where it is missing.
pub fn take(folder: &Path) -> Result<Lock, Error> {
    let path = folder.join("lock");
    let failed = |cause| Error::Use { path: path.clone(), cause };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(Error::Taken { folder: folder.to_owned(), holder: holder(&mut file) }),
        Err(TryLockError::Error(cause)) => return Err(failed(cause)),
    }
    file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(failed)?;
    Ok(Lock(file))
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(20).read_to_string(&mut text);
    match text.trim().parse::<u32>() {
        Ok(process) if read.is_ok() => format!(" (process {process})"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_taken_once_and_is_free_again_after_that() {
        let folder = tempfile::tempdir().unwrap();
        let lock = take(folder.path()).unwrap();
        let refused = take(folder.path()).unwrap_err().to_string();
        assert!(refused.contains(&format!("(process {})", std::process::id())), "{refused}");
        drop(lock);
        take(folder.path()).unwrap();
    }
}
