//! The command `thetis`.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{CommandFactory as _, Parser, Subcommand};
use thetis_local::{command, local};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// An agent whose loop, tools and interface are WebAssembly components: on this machine, and what talks to it
#[derive(Parser)]
#[command(name = "thetis", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    server: command::Server,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Local(local::Options),
    Send(command::Send),
    Tail(command::Tail),
    Get(command::Get),
    Cancel(command::Cancel),
    /// Prints completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    // The compiling process gives up its rights before it does anything else.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == local::COMPILE) {
        return thetis_runtime::artifact::child::run();
    }
    start(Cli::parse()).unwrap_or_else(|error| {
        // `{:#}` names the causes, too.
        let _ = writeln!(io::stderr(), "thetis: {error:#}");
        ExitCode::FAILURE
    })
}

fn start(cli: Cli) -> anyhow::Result<ExitCode> {
    // The one implementation of cryptography for TLS; nobody else chooses one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new().context("start the threads")?;
    let ended = runtime.block_on(run(cli));
    // What is still blocked, for example a read of standard input, is not waited for.
    runtime.shutdown_background();
    ended
}

async fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match &cli.command {
        Command::Local(options) => {
            log();
            local::run(options, stop()?).await?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Send(send) => Ok(command::send(&cli.server, send).await?),
        Command::Tail(tail) => Ok(command::tail(&cli.server, tail).await?),
        Command::Get(get) => Ok(command::get(&cli.server, get).await?),
        Command::Cancel(cancel) => Ok(command::cancel(&cli.server, cancel).await?),
        Command::Completions { shell } => {
            clap_complete::generate(*shell, &mut Cli::command(), "thetis", &mut io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// To standard error, for people; `THETIS_LOG` chooses what, as `RUST_LOG` does elsewhere.
fn log() {
    let filter = EnvFilter::try_from_env("THETIS_LOG").unwrap_or_else(|_| EnvFilter::new("warn,thetis=info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .init();
}

/// Cancelled by the first SIGINT or SIGTERM; the second ends the process at once.
fn stop() -> anyhow::Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt()).context("listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let token = CancellationToken::new();
    let stop = token.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if stop.is_cancelled() {
                std::process::exit(130);
            }
            stop.cancel();
        }
    });
    Ok(token)
}
