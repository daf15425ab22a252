//! The binary `mock-llm`: a model endpoint that costs nothing, scripted by a YAML file.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use thetis_e2e::mock::{Options, Script, Server};

/// A model endpoint that costs nothing. It speaks OpenAI-compatible chat completions as `OpenRouter`, OpenAI and Anthropic
/// behind `OpenRouter` do, refuses requests that they would refuse, and echoes the last user message unless a script says
/// otherwise. GET /requests shows what was asked, DELETE /requests forgets it.
#[derive(Debug, Parser)]
#[command(name = "mock-llm", version)]
struct Arguments {
    /// Where to listen; port 0 takes a free one. The address is printed once it listens.
    #[arg(long, default_value = "127.0.0.1:7788")]
    bind: SocketAddr,
    /// Rules, as in `e2e/scripts/example.yaml`.
    #[arg(long, value_name = "FILE.yaml")]
    script: Option<PathBuf>,
    /// The key that every request must carry; without it none is asked for.
    #[arg(long, env = "MOCK_LLM_KEY", hide_env_values = true)]
    key: Option<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_env_filter(tracing_subscriber::EnvFilter::from_default_env()).with_writer(std::io::stderr).init();
    let Arguments { bind, script, key } = Arguments::parse();
    anyhow::ensure!(key.as_deref().is_none_or(|key| !key.trim().is_empty()), "--key is blank: leave it away or name a key");
    let script = match script {
        None => Script::default(),
        Some(path) => {
            let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            Script::parse(&text).with_context(|| format!("in {}", path.display()))?
        }
    };
    let server = Server::start(script, Options { bind, key }).await.with_context(|| format!("listening on {bind}"))?;
    {
        use std::io::Write as _;
        let mut out = std::io::stdout().lock();
        writeln!(out, "mock-llm listens on http://{}", server.address())?;
        out.flush()?;
    }
    tokio::select! {
        ended = server.wait() => ended.context("serving")?,
        stopped = tokio::signal::ctrl_c() => stopped.context("waiting for the signal to stop")?,
    }
    Ok(())
}
