//! Who the server runs as: Postgres refuses root, so root hands it to an account that can do nothing else.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::unistd::{Gid, Uid, User, geteuid};

/// Accounts that hold no privilege, in order of preference.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// The account that owns the data and runs the server.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: Uid,
    pub(crate) gid: Gid,
    /// Whether this process has to change to it.
    change: bool,
}

impl Account {
    /// This process's own account, or an unprivileged one where that is root; none where root finds no such account.
    pub(crate) fn choose() -> Option<Self> {
        let own = geteuid();
        if own.is_root() {
            let user = UNPRIVILEGED.iter().find_map(|name| User::from_name(name).ok().flatten())?;
            Some(Self { name: user.name, uid: user.uid, gid: user.gid, change: true })
        } else {
            Some(Self { name: own.to_string(), uid: own, gid: nix::unistd::getegid(), change: false })
        }
    }

    /// `program`, run by this account in an environment of its own: nothing that a caller exported reaches Postgres.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C").env("TZ", "UTC").current_dir("/");
        if self.change {
            // Setting the uid as root also drops root's supplementary groups.
            command.uid(self.uid.as_raw()).gid(self.gid.as_raw());
        }
        command
    }

    /// Makes `folder` where it is missing, and this account's alone.
    pub(crate) fn own(&self, folder: &std::path::Path) -> std::io::Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::create_dir_all(folder)?;
        if self.change {
            std::os::unix::fs::chown(folder, Some(self.uid.as_raw()), Some(self.gid.as_raw()))?;
        }
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
    }
}
