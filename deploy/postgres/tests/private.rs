//! A real server from this machine's binaries: it starts, outlives a crash, keeps out of sight, and leaves when it should.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test says what went wrong by panicking")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use thetis_postgres::{Binaries, Durability, Error, Postgres};

fn cache() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the server answers, by its own single-purpose client: this crate brings none.
fn ready(sockets: &Path) -> bool {
    let bin = &Binaries::found()[0].folder;
    Command::new(bin.join("pg_isready")).arg("-q").arg("-h").arg(sockets).status().unwrap().success()
}

#[test]
fn answers_only_on_its_socket_and_removes_itself() {
    let server = Postgres::scratch(Some(cache())).unwrap();
    let sockets = server.sockets().to_owned();
    assert!(ready(&sockets));
    let pid = std::fs::read_to_string(sockets.join("data/postmaster.pid")).unwrap().lines().next().unwrap().to_owned();
    let listening = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap();
    assert!(!listening.lines().any(|line| line.contains(":1538 ") && line.contains(" 0A ")), "5432 is open:\n{listening}");
    server.stop();
    eventually("the folder is gone", || !sockets.exists());
}

#[test]
fn data_survives_a_killed_server_and_a_start_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Postgres::start(folder.path(), Durability::Discardable).unwrap();
    let identifier = std::fs::read(folder.path().join("data/global/pg_control")).unwrap()[..8].to_vec();
    let pid = std::fs::read_to_string(folder.path().join("data/postmaster.pid")).unwrap().lines().next().unwrap().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL).unwrap();
    eventually("its end is seen", || !server.is_running());
    drop(server);
    let server = Postgres::start(folder.path(), Durability::Discardable).unwrap();
    assert!(ready(server.sockets()));
    assert_eq!(std::fs::read(folder.path().join("data/global/pg_control")).unwrap()[..8], identifier);
}

#[test]
fn a_folder_too_deep_for_a_socket_gets_a_short_one() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d".repeat(60)).join("e, 'f'".repeat(10));
    // Root hands the folder to another account, which has to be able to get there.
    for path in [folder.path(), deep.parent().unwrap()] {
        std::fs::create_dir_all(path).unwrap();
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let server = Postgres::start(&deep, Durability::Discardable).unwrap();
    assert!(ready(server.sockets()));
    let sockets = server.sockets().to_owned();
    server.stop();
    assert!(!sockets.exists());
}

#[test]
fn data_of_a_version_that_is_not_here_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/PG_VERSION"), "9.6\n").unwrap();
    let error = Postgres::start(folder.path(), Durability::Durable).unwrap_err();
    assert!(matches!(&error, Error::OtherVersion { major, .. } if major == "9.6"), "{error}");
}

/// Run by the test below in a process of its own, so that it can be killed.
#[test]
#[ignore = "a part of `leaves_with_a_killed_process`"]
fn part_start_and_hang() {
    let server = Postgres::scratch(Some(cache())).unwrap();
    std::fs::write(std::env::var_os("THETIS_TEST_SAY").unwrap(), server.sockets().as_os_str().as_encoded_bytes()).unwrap();
    std::thread::sleep(Duration::from_mins(1));
}

#[test]
fn leaves_with_a_killed_process() {
    let folder = tempfile::tempdir().unwrap();
    let say = folder.path().join("say");
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "part_start_and_hang", "--ignored"])
        .env("THETIS_TEST_SAY", &say)
        .spawn()
        .unwrap();
    let mut sockets = std::path::PathBuf::new();
    eventually("it starts", || {
        sockets = std::fs::read_to_string(&say).unwrap_or_default().into();
        sockets.is_absolute()
    });
    assert!(ready(&sockets));
    process.kill().unwrap();
    process.wait().unwrap();
    eventually("the server and its folder are gone", || !sockets.exists());
}
