//! Finds Postgres' programs on this machine. Reads folders and runs `postgres --version`, nothing else.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with `postgres` and `initdb` of one major version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    /// The folder.
    pub folder: PathBuf,
    /// For example 15.
    pub major: u32,
}

/// The oldest version whose SQL the store is tested with.
const OLDEST: u32 = 13;

impl Binaries {
    /// Every usable set, newest first: what `PATH` names, then where Debian, Red Hat, Alpine and Homebrew put it.
    #[must_use]
    pub fn found() -> Vec<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        for parent in ["/usr/lib/postgresql", "/usr/libexec", "/usr/local/opt", "/opt/homebrew/opt", "/usr"] {
            let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
            folders.extend(entries.map(|entry| entry.path()).filter(|path| is_versioned(parent, path)).map(|path| bin_of(&path)));
        }
        let mut found: Vec<Self> = folders.iter().filter_map(|folder| Self::in_folder(folder)).collect();
        found.sort_by(|one, other| other.major.cmp(&one.major).then_with(|| one.folder.cmp(&other.folder)));
        found.dedup();
        found
    }

    fn in_folder(folder: &Path) -> Option<Self> {
        // A link in a common folder stands for the folder that also holds the programs it does not link.
        let folder = folder.join("postgres").canonicalize().ok()?.parent()?.to_owned();
        folder.join("initdb").is_file().then_some(())?;
        let output = Command::new(folder.join("postgres")).arg("--version").output().ok()?;
        let major = major(&String::from_utf8_lossy(&output.stdout))?;
        (major >= OLDEST).then_some(Self { folder, major })
    }
}

fn is_versioned(parent: &str, path: &Path) -> bool {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    parent == "/usr/lib/postgresql" || name.starts_with("postgresql") || name.starts_with("pgsql-")
}

fn bin_of(path: &Path) -> PathBuf {
    let bin = path.join("bin");
    if bin.is_dir() { bin } else { path.to_owned() }
}

/// The major version in what `postgres --version` prints.
fn major(version: &str) -> Option<u32> {
    let number = version.strip_prefix("postgres (PostgreSQL) ")?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(major("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"), Some(15));
        assert_eq!(major("postgres (PostgreSQL) 19beta1"), Some(19));
        assert_eq!(major("postgres (EnterpriseDB) 15.1"), None);
        assert_eq!(major(""), None);
    }
}
