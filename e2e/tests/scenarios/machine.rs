//! A whole Thetis for one test: a folder of objects, a data folder, a process, and a model that follows a script.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use thetis_core::event::{Event, TurnStatus};
use thetis_core::fold::Session;
use thetis_core::id::Seq;
use thetis_e2e::mock::{Options, Script, Server};
use thetis_local::client::follow::Until;
use thetis_local::client::{Client, Name};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// For anything to happen on a machine that is busy with other tests. Passing takes a fraction of it.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// One Thetis.
pub struct Machine {
    folder: TempDir,
    /// The model.
    pub model: Server,
    process: Option<Child>,
    url: String,
}

/// The program's and the components' place, where `cargo` and `make aspects` put them.
fn built(what: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("thetis");
    let components = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("aspects/target/components");
    let path = if what == "thetis" { program } else { components };
    assert!(path.exists(), "{} is not there: `make test` builds it first", path.display());
    path
}

/// The name of the conversation in [`HELLO`].
pub fn hello() -> Name {
    Name { namespace: "default".into(), name: "hello".into() }
}

/// A skill and a conversation that waits to be spoken to; the model is added by [`Machine::new`].
pub const HELLO: &str = "
apiVersion: thetis.dev/v1alpha1
kind: Skill
metadata: { name: manners }
spec:
  title: Manners
  description: How to speak
  instructions: Speak like a lighthouse keeper.
---
apiVersion: thetis.dev/v1alpha1
kind: Conversation
metadata: { name: hello }
spec: { skills: [manners] }
";

impl Machine {
    /// With `objects` in its folder, and a model `default` that follows `script`. Nothing is started but the model.
    pub async fn new(objects: &str, script: &str) -> Self {
        let model = Server::start(Script::parse(script).unwrap(), Options { bind: ([127, 0, 0, 1], 0).into(), key: None }).await.unwrap();
        // Postgres may run as another account, which has to get in.
        let folder = tempfile::Builder::new().prefix("thetis-e2e-").permissions(std::fs::Permissions::from_mode(0o755)).tempdir().unwrap();
        std::fs::create_dir(folder.path().join("objects")).unwrap();
        let machine = Self { folder, model, process: None, url: String::new() };
        let spec = format!("{{ id: mock/echo, baseURL: \"{}\" }}", machine.model.base_url());
        machine.put("model.yaml", &format!("apiVersion: thetis.dev/v1alpha1\nkind: Model\nmetadata: {{ name: default }}\nspec: {spec}\n"));
        machine.put("objects.yaml", objects);
        machine
    }

    /// As [`Self::new`], and running.
    pub async fn started(objects: &str, script: &str) -> Self {
        let mut machine = Self::new(objects, script).await;
        machine.start().await;
        machine
    }

    /// Writes a file of the folder of objects, at once as editors do.
    pub fn put(&self, file: &str, text: &str) {
        let aside = self.folder.path().join("aside");
        std::fs::write(&aside, text).unwrap();
        std::fs::rename(aside, self.folder.path().join("objects").join(file)).unwrap();
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// `thetis local` on the two folders, on a free port, with more arguments.
    pub fn local(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(built("thetis"));
        command.arg("local").arg("-f").arg(self.folder.path().join("objects")).arg("--data").arg(self.data());
        if !arguments.contains(&"--aspects") {
            command.arg("--aspects").arg(built("components"));
        }
        command.args(arguments);
        if !arguments.contains(&"--bind") {
            command.args(["--bind", "127.0.0.1:0"]);
        }
        command.env_remove("OPENROUTER_API_KEY").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// Starts the process and waits until it serves.
    pub async fn start(&mut self) {
        let mut process = self.local(&[]).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        tokio::time::timeout(PATIENCE, out.read_line(&mut line)).await.expect("thetis local is not ready in time").unwrap();
        let Some(url) = line.trim().strip_prefix("Thetis serves ") else {
            let mut complaint = String::new();
            process.stderr.take().unwrap().read_to_string(&mut complaint).await.unwrap();
            panic!("thetis local did not start: {complaint}");
        };
        url.clone_into(&mut self.url);
        // Somebody has to read what it logs; a failing test shows it.
        let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
        tokio::spawn(async move {
            while let Ok(Some(line)) = log.next_line().await {
                println!("thetis: {line}");
            }
        });
        self.process = Some(process);
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.process.as_ref().and_then(Child::id).unwrap().try_into().unwrap())
    }

    /// Ends the process as the kernel would: nothing is tidied up.
    pub async fn kill(&mut self) {
        kill(self.pid(), Signal::SIGKILL).unwrap();
        self.process.take().unwrap().wait().await.unwrap();
    }

    /// Asks the process to stop, and waits for it.
    pub async fn stop(&mut self) -> ExitStatus {
        kill(self.pid(), Signal::SIGTERM).unwrap();
        let mut process = self.process.take().unwrap();
        tokio::time::timeout(PATIENCE, process.wait()).await.expect("thetis local does not stop").unwrap()
    }

    /// Ends the private Postgres as the kernel would.
    pub fn kill_postgres(&self) {
        let pid = std::fs::read_to_string(self.data().join("postgres/data/postmaster.pid")).unwrap();
        kill(Pid::from_raw(pid.lines().next().unwrap().parse().unwrap()), Signal::SIGKILL).unwrap();
    }

    /// Runs the program against this Thetis.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(built("thetis"));
        command.args(arguments).args(["--url", &self.url]).stdin(Stdio::null()).kill_on_drop(true);
        tokio::time::timeout(PATIENCE, command.output()).await.expect("the command does not end").unwrap()
    }

    /// A client of this Thetis.
    pub fn client(&self) -> Client {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client::new(&self.url).unwrap()
    }

    /// Waits until `hello` has an event after `after` that `is` it; the event.
    pub async fn wait_for(&self, after: Seq, is: impl Fn(&Event) -> bool) -> Event {
        let mut found = None;
        let (client, name) = (self.client(), hello());
        let follow = client.follow(&name, after, Until::Interrupted, |event| {
            found = is(event).then(|| event.clone());
            found.is_none()
        });
        tokio::time::timeout(PATIENCE, follow).await.expect("the event does not come").unwrap();
        found.unwrap()
    }

    /// Waits until `hello` has nothing left to do; how its last turn ended.
    pub async fn settled(&self) -> TurnStatus {
        let (client, name) = (self.client(), hello());
        let follow = client.follow(&name, Seq::ZERO, Until::Settled, |_| true);
        tokio::time::timeout(PATIENCE, follow).await.expect("the turn does not end").unwrap().unwrap()
    }

    /// The log of `hello`, which is a valid one.
    pub async fn log(&self) -> Vec<Event> {
        let (mut log, mut after) = (Vec::new(), Seq::ZERO);
        loop {
            let page = self.client().events(&hello(), after).await.unwrap();
            let Some(last) = page.events.last() else { break };
            after = last.seq;
            log.extend(page.events);
        }
        Session::of(&log).unwrap();
        log
    }
}

/// The kinds of a log's events, in order.
pub fn kinds(log: &[Event]) -> Vec<&'static str> {
    log.iter().map(|event| event.body.kind()).collect()
}
