//! Starts, watches and stops one server. Blocking IO.
//!
//! A small shell stands between this process and the server. It holds the reading end of a pipe; when the writing end
//! closes, because this process stops the server or dies, the shell shuts the server down.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::binaries::Binaries;
use crate::user::Account;

/// How much a crash of the machine may lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing that was acknowledged.
    Durable,
    /// Everything; a crash of the server alone loses nothing. For tests.
    Discardable,
}

/// A private server could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No usable binaries.
    #[error("no Postgres (13 or newer) on this machine: install it, for example `apt-get install postgresql`")]
    NotInstalled,
    /// The data was written by a version that is not installed.
    #[error("the data in {folder} needs Postgres {major}, which is not installed")]
    OtherVersion {
        /// The data folder.
        folder: PathBuf,
        /// The version that wrote it.
        major: String,
    },
    /// Root, and nobody to hand the server to.
    #[error("running as root, and the machine has neither an account `postgres` nor `nobody` to run Postgres as")]
    NoAccount,
    /// The folder cannot be used.
    #[error("prepare {folder} for Postgres")]
    Prepare {
        /// The folder.
        folder: PathBuf,
        /// What failed.
        #[source]
        cause: io::Error,
    },
    /// The account that runs the server cannot get to its data.
    #[error("account {account} cannot reach {folder}: a folder above it is closed to others; choose another place")]
    Unreachable {
        /// The folder.
        folder: PathBuf,
        /// The account.
        account: String,
    },
    /// A program could not be run.
    #[error("run {program}")]
    Run {
        /// Which.
        program: PathBuf,
        /// What failed.
        #[source]
        cause: io::Error,
    },
    /// `initdb` failed.
    #[error("initdb failed: {output}")]
    Init {
        /// What it printed.
        output: String,
    },
    /// The server ended before it was ready, or never became so.
    #[error("Postgres did not start in {folder}: {log}")]
    Start {
        /// The data folder.
        folder: PathBuf,
        /// The end of its log.
        log: String,
    },
}

/// A running server; dropped, it is shut down.
#[derive(Debug)]
pub struct Postgres {
    folder: PathBuf,
    sockets: PathBuf,
    /// Where the socket's path would be too long inside the folder; removed with this value.
    short: Option<tempfile::TempDir>,
    shell: Child,
}

/// A unix socket's path holds 107 bytes; `/.s.PGSQL.5432.lock` takes 19 of them.
const LONGEST_SOCKET_FOLDER: usize = 80;
/// Of recovery after a crash, and of waiting for a predecessor to finish its shutdown.
const START_LIMIT: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_millis(5);

/// `signal server arguments`: runs the server until it ends or standard input closes. The watcher's own copy of the pipe is the
/// only one it keeps; the server gets none, so that an end of file is seen.
const WATCHED: &str = r#"
exec 3<&0 0</dev/null
signal=$1; shift
"$@" 3<&- &
server=$!
( read -r _ <&3; kill -s "$signal" "$server" ) 2>/dev/null &
watcher=$!
exec 3<&-
wait "$server"
status=$?
kill "$watcher" 2>/dev/null
[ -z "$THETIS_REMOVE" ] || rm -rf "$THETIS_REMOVE"
exit "$status"
"#;

impl Postgres {
    /// Starts the server whose data is in `folder/data`, making that first where it is missing. Waits until it answers;
    /// a predecessor that is still shutting down is waited for.
    pub fn start(folder: &Path, durability: Durability) -> Result<Self, Error> {
        Self::launch(folder, durability, None)
    }

    /// As [`Self::start`]; `remove` is deleted once the server has ended.
    pub(crate) fn launch(folder: &Path, durability: Durability, remove: Option<&Path>) -> Result<Self, Error> {
        let prepare = |cause| Error::Prepare { folder: folder.to_owned(), cause };
        let account = Account::choose().ok_or(Error::NoAccount)?;
        account.own(folder).map_err(prepare)?;
        let folder = folder.canonicalize().map_err(prepare)?;
        check_reach(&account, &folder)?;
        let data = folder.join("data");
        let binaries = choose(Binaries::found(), &data)?;
        if !data.exists() {
            initialise(&account, &binaries, &folder, durability)?;
        }
        let (sockets, short) = socket_folder(&account, &folder)?;
        let arguments = arguments(&data, &sockets, durability);
        let deadline = Instant::now() + START_LIMIT;
        loop {
            let shell = spawn(&account, &binaries, &folder, &arguments, durability, remove)?;
            let mut server = Self { folder: folder.clone(), sockets: sockets.clone(), short: None, shell };
            if server.wait_until_ready(deadline) {
                server.short = short;
                return Ok(server);
            }
            // A lock file is what a server that has not finished its shutdown leaves; anything else will not go away.
            if Instant::now() >= deadline || !data.join("postmaster.pid").exists() {
                return Err(Error::Start { log: tail(&folder.join("log")), folder });
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// How a client reaches it: `postgres://…`, over the unix socket, no password.
    #[must_use]
    pub fn url(&self) -> String {
        let mut url = String::from("postgres://thetis@localhost/postgres?host=");
        for byte in self.sockets.as_os_str().as_encoded_bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => url.push(char::from(*byte)),
                // Writing to a String cannot fail.
                _ => drop(write!(url, "%{byte:02X}")),
            }
        }
        url
    }

    /// The folder of its unix socket, as `psql -h` takes it.
    #[must_use]
    pub fn sockets(&self) -> &Path {
        &self.sockets
    }

    /// Whether it still runs: false once it has ended by itself, and then [`Self::start`] brings it back.
    pub fn is_running(&mut self) -> bool {
        matches!(self.shell.try_wait(), Ok(None))
    }

    /// Shuts it down and waits until it has ended: transactions in flight are rolled back, connections closed.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) -> Option<ExitStatus> {
        drop(self.shell.stdin.take());
        let status = self.shell.wait().ok();
        drop(self.short.take());
        status
    }

    /// Whether it is ready before the deadline and before it ends.
    fn wait_until_ready(&mut self, deadline: Instant) -> bool {
        let status = self.folder.join("data/postmaster.pid");
        while Instant::now() < deadline && self.is_running() {
            // The eighth line is the server's state: the same that `pg_ctl -w` reads. The first is its process, which tells
            // our server's file from one that a dead server left.
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let ours = text.lines().next().and_then(|pid| pid.parse().ok()).is_some_and(|pid| self.leads(pid));
            if ours && text.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
                return true;
            }
            std::thread::sleep(POLL);
        }
        false
    }

    /// Whether the process is of the group that the shell leads.
    fn leads(&self, pid: i32) -> bool {
        let group = nix::unistd::getpgid(Some(nix::unistd::Pid::from_raw(pid)));
        group.is_ok_and(|group| u32::try_from(group.as_raw()) == Ok(self.shell.id()))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.end();
    }
}

fn check_reach(account: &Account, folder: &Path) -> Result<(), Error> {
    let program = PathBuf::from("/bin/sh");
    let status = account.command(&program).args(["-c", "cd \"$0\" 2>/dev/null"]).arg(folder).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Error::Unreachable { folder: folder.to_owned(), account: account.name.clone() }),
        Err(cause) => Err(Error::Run { program, cause }),
    }
}

/// The newest set, or the one that wrote the data.
pub(crate) fn choose(found: Vec<Binaries>, data: &Path) -> Result<Binaries, Error> {
    let written = std::fs::read_to_string(data.join("PG_VERSION")).ok();
    match written.as_deref().map(str::trim) {
        None => found.into_iter().next().ok_or(Error::NotInstalled),
        Some(_) if found.is_empty() => Err(Error::NotInstalled),
        Some(major) => found
            .into_iter()
            .find(|binaries| binaries.major.to_string() == major)
            .ok_or_else(|| Error::OtherVersion { folder: data.to_owned(), major: major.chars().take(20).collect() }),
    }
}

/// Makes the data aside and moves it into place whole: an interrupted attempt leaves nothing that looks like data.
pub(crate) fn initialise(account: &Account, binaries: &Binaries, folder: &Path, durability: Durability) -> Result<(), Error> {
    let prepare = |cause| Error::Prepare { folder: folder.to_owned(), cause };
    let aside = folder.join("data.new");
    match std::fs::remove_dir_all(&aside) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(prepare(cause)),
        _ => {}
    }
    let program = binaries.folder.join("initdb");
    let mut command = account.command(&program);
    command.args(["--username=thetis", "--auth=trust", "--encoding=UTF8", "--no-locale"]);
    match durability {
        Durability::Durable => command.arg("--data-checksums"),
        Durability::Discardable => command.args(["--no-sync", "--wal-segsize=1"]),
    };
    let output = command.arg("-D").arg(&aside).output().map_err(|cause| Error::Run { program, cause })?;
    if !output.status.success() {
        return Err(Error::Init { output: String::from_utf8_lossy(&output.stderr).trim().to_owned() });
    }
    std::fs::rename(&aside, folder.join("data")).map_err(prepare)
}

/// The folder itself where its path is short enough for a socket, else a short one.
fn socket_folder(account: &Account, folder: &Path) -> Result<(PathBuf, Option<tempfile::TempDir>), Error> {
    // Postgres splits the setting at commas and knows no escape but quotes.
    let plain = !folder.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b',' | b'"' | b'\'' | b' '));
    if plain && folder.as_os_str().len() <= LONGEST_SOCKET_FOLDER {
        return Ok((folder.to_owned(), None));
    }
    let short = tempfile::Builder::new().prefix("thetis-").tempdir_in("/tmp");
    let short = short.map_err(|cause| Error::Prepare { folder: "/tmp".into(), cause })?;
    account.own(short.path()).map_err(|cause| Error::Prepare { folder: short.path().to_owned(), cause })?;
    Ok((short.path().to_owned(), Some(short)))
}

/// Given on the command line, not in the data folder's file: a newer version of this program brings newer settings.
fn arguments(data: &Path, sockets: &Path, durability: Durability) -> Vec<std::ffi::OsString> {
    let mut settings = vec![
        "listen_addresses=",
        "port=5432",
        "unix_socket_permissions=0700",
        "max_connections=100",
        "shared_buffers=64MB",
        "log_min_messages=warning",
        "logging_collector=off",
        "log_destination=stderr",
        // One process's few conversations: neither replicas nor archives read this log.
        "wal_level=minimal",
        "max_wal_senders=0",
        "max_wal_size=512MB",
        "checkpoint_timeout=15min",
        "jit=off",
    ];
    if durability == Durability::Discardable {
        settings.extend(["fsync=off", "full_page_writes=off", "autovacuum=off", "shared_buffers=16MB"]);
    }
    let mut arguments: Vec<std::ffi::OsString> = vec!["-D".into(), data.into()];
    let mut socket = std::ffi::OsString::from("unix_socket_directories=");
    socket.push(sockets);
    for setting in settings.into_iter().map(Into::into).chain([socket]) {
        arguments.extend(["-c".into(), setting]);
    }
    arguments
}

fn spawn(
    account: &Account,
    binaries: &Binaries,
    folder: &Path,
    arguments: &[std::ffi::OsString],
    durability: Durability,
    remove: Option<&Path>,
) -> Result<Child, Error> {
    let prepare = |cause| Error::Prepare { folder: folder.to_owned(), cause };
    let log = File::create(folder.join("log")).map_err(prepare)?;
    let signal = match durability {
        Durability::Durable => "INT",
        Durability::Discardable => "QUIT",
    };
    let program = PathBuf::from("/bin/sh");
    let mut command = account.command(&program);
    command.args(["-c", WATCHED, "thetis-postgres", signal]).arg(binaries.folder.join("postgres")).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
    // A group of its own: an interrupt typed at this process's terminal is this process's business.
    command.process_group(0).env("THETIS_REMOVE", remove.unwrap_or(Path::new("")));
    command.spawn().map_err(|cause| Error::Run { program, cause })
}

/// The end of the server's log, for people.
fn tail(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().rev().take(5).rev().copied().collect::<Vec<_>>().join("; ")
}
