//! The commands that ask a running Thetis: what they take, and what they print.

use std::io::{self, IsTerminal as _, Read as _, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use thetis_core::event::{Event, TurnStatus};
use thetis_core::id::Seq;
use thetis_runtime::ingress::wire;

use crate::client::follow::Until;
use crate::client::{self, Client, Name, print};

/// Where Thetis is.
#[derive(Args, Clone, Debug)]
pub struct Server {
    /// Address of Thetis
    #[arg(long, env = "THETIS_URL", default_value = "http://127.0.0.1:7777", global = true)]
    url: String,
}

/// Which conversation.
#[derive(Args, Clone, Debug)]
pub struct Target {
    /// Namespace of the conversation
    #[arg(short, long, default_value = "default")]
    namespace: String,
    /// Name of the conversation
    conversation: String,
}

/// How to print events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EventFormat {
    /// For people; long texts are cut
    #[default]
    Text,
    /// One JSON document a line, whole
    Json,
}

/// How to print conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// More columns
    Wide,
    /// A JSON document
    Json,
}

/// Says something to a conversation
#[derive(Args, Clone, Debug)]
pub struct Send {
    #[command(flatten)]
    target: Target,
    /// What to say; the words are joined by spaces, and `-` reads standard input
    #[arg(required = true)]
    text: Vec<String>,
    /// Follow the conversation until nothing is left to do; fails unless the last turn completed
    #[arg(short, long)]
    wait: bool,
    /// How --wait prints events
    #[arg(short, long, value_enum, default_value_t)]
    output: EventFormat,
    /// Make the conversation where there is none of that name
    #[arg(long)]
    create: bool,
    /// Mode of a conversation that --create makes
    #[arg(long, requires = "create", default_value_t = wire::default_mode())]
    mode: String,
    /// Model of a conversation that --create makes
    #[arg(long, requires = "create", default_value_t = wire::default_model())]
    model: String,
    /// Skill of a conversation that --create makes; may be given several times
    #[arg(long = "skill", requires = "create")]
    skills: Vec<String>,
}

/// Prints a conversation's log and goes on as it grows
#[derive(Args, Clone, Debug)]
pub struct Tail {
    #[command(flatten)]
    target: Target,
    /// Number of the first event to print
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    from: u64,
    /// Stop at the end of the log
    #[arg(long, conflicts_with = "wait")]
    no_follow: bool,
    /// Stop when nothing is left to do; fails unless the last turn completed
    #[arg(short, long)]
    wait: bool,
    /// How to print events
    #[arg(short, long, value_enum, default_value_t)]
    output: EventFormat,
}

/// Lists conversations, or shows one
#[derive(Args, Clone, Debug)]
pub struct Get {
    /// Namespace of the conversation; all where absent
    #[arg(short, long)]
    namespace: Option<String>,
    /// Name of the conversation; all where absent
    conversation: Option<String>,
    /// How to print
    #[arg(short, long, value_enum)]
    output: Option<Format>,
}

/// Asks a conversation's turn to stop; what runs beside nothing else is finished first
#[derive(Args, Clone, Debug)]
pub struct Cancel {
    #[command(flatten)]
    target: Target,
}

/// A command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Thetis did not answer, or refused.
    #[error(transparent)]
    Client(client::Error),
    /// There is no such conversation, and none was to be made.
    #[error("{}; `thetis get` lists those that there are, --create makes one", .0.detail)]
    NoConversation(wire::Problem),
    /// The text could not be read.
    #[error("read the message from standard input")]
    Read(#[source] io::Error),
    /// Nobody takes the output.
    #[error("print")]
    Print(#[source] io::Error),
}

impl From<client::Error> for Error {
    fn from(error: client::Error) -> Self {
        Self::Client(error)
    }
}

impl Server {
    fn client(&self) -> Result<Client, Error> {
        Ok(Client::new(&self.url)?)
    }
}

impl Target {
    fn name(&self) -> Name {
        Name { namespace: self.namespace.clone(), name: self.conversation.clone() }
    }
}

/// `thetis send`.
pub async fn send(server: &Server, send: &Send) -> Result<ExitCode, Error> {
    let client = server.client()?;
    let text = text(&send.text)?;
    let name = send.target.name();
    let seq = match client.say(&name, &text).await {
        Err(client::Error::Refused(problem)) if problem.code == "no-conversation" => {
            if !send.create {
                return Err(Error::NoConversation(problem));
            }
            create(&client, send, &name, text).await?
        }
        said => said?,
    };
    if send.wait {
        return follow(&client, &name, Seq(seq.0.saturating_sub(1)), Until::Settled, send.output).await;
    }
    Ok(ExitCode::SUCCESS)
}

async fn create(client: &Client, send: &Send, name: &Name, text: String) -> Result<Seq, Error> {
    let new = wire::NewConversation {
        namespace: name.namespace.clone(),
        name: name.name.clone(),
        title: None,
        mode: send.mode.clone(),
        model: send.model.clone(),
        skills: send.skills.clone(),
        agent: wire::default_agent(),
        prompt: Some(text),
    };
    client.create(&new).await?;
    Ok(Seq(1))
}

fn text(words: &[String]) -> Result<String, Error> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(Error::Read)?;
    Ok(text)
}

/// `thetis tail`.
pub async fn tail(server: &Server, tail: &Tail) -> Result<ExitCode, Error> {
    let client = server.client()?;
    let name = tail.target.name();
    let mut after = Seq(tail.from.saturating_sub(1));
    if !tail.no_follow {
        let until = if tail.wait { Until::Settled } else { Until::Interrupted };
        return follow(&client, &name, after, until, tail.output).await;
    }
    loop {
        let page = client.events(&name, after).await?;
        for event in &page.events {
            if !printed(print_event(event, tail.output))? {
                return Ok(ExitCode::SUCCESS);
            }
            after = event.seq;
        }
        if page.events.is_empty() || after >= page.tail {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

async fn follow(client: &Client, name: &Name, after: Seq, until: Until, format: EventFormat) -> Result<ExitCode, Error> {
    let mut outcome = Ok(());
    let last = client.follow(name, after, until, |event| {
        outcome = print_event(event, format);
        outcome.is_ok()
    });
    let last = last.await?;
    if !printed(outcome)? {
        return Ok(ExitCode::SUCCESS);
    }
    let well = matches!(last, None | Some(TurnStatus::Completed | TurnStatus::Empty));
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_event(event: &Event, format: EventFormat) -> io::Result<()> {
    match format {
        EventFormat::Text => print(&print::event(event)),
        EventFormat::Json => print(&(serde_json::to_string(event)? + "\n")),
    }
}

/// `thetis get`.
pub async fn get(server: &Server, get: &Get) -> Result<ExitCode, Error> {
    let client = server.client()?;
    let namespace = get.namespace.as_deref();
    let found = match &get.conversation {
        Some(name) => {
            let namespace = namespace.map_or_else(wire::default_namespace, str::to_owned);
            vec![client.conversation(&Name { namespace, name: name.clone() }).await?]
        }
        None => client.conversations(namespace).await?,
    };
    let text = match (get.output, &get.conversation) {
        (Some(Format::Json), Some(_)) => json(&found.first())?,
        (Some(Format::Json), None) => json(&wire::Conversations { items: found })?,
        (wide, _) if found.is_empty() && wide.is_none() && io::stdout().is_terminal() => "No conversations.\n".to_owned(),
        (wide, _) => print::table(&found, namespace.is_none() && get.conversation.is_none(), wide.is_some()),
    };
    printed(print(&text))?;
    Ok(ExitCode::SUCCESS)
}

fn json(document: &impl serde::Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string_pretty(document).map_err(|cause| Error::Print(cause.into()))? + "\n")
}

/// `thetis cancel`.
pub async fn cancel(server: &Server, cancel: &Cancel) -> Result<ExitCode, Error> {
    server.client()?.cancel(&cancel.target.name()).await?;
    Ok(ExitCode::SUCCESS)
}

/// Whether there is still somebody who reads: `head`, say, goes away when it has seen enough, and that is no failure.
fn printed(outcome: io::Result<()>) -> Result<bool, Error> {
    match outcome {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(cause) => Err(Error::Print(cause)),
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}
