//! What the platform adds to a turn, and how many durable tool calls it carries: everything real, on a private Postgres with
//! its production settings, with a model that answers at once. Prints medians over rounds beside what the same machine needs
//! for the bare parts in the same run.
#![expect(clippy::print_stdout, reason = "a program that prints figures")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use futures::future::try_join_all;
use thetis_e2e::mock::Script;
use thetis_e2e::rig::{Options, Rig};
use thetis_postgres::{Durability, Postgres};
use thetis_runtime::artifact::Compiler;
use thetis_runtime::worker;

const ROUNDS: usize = 7;
const TURNS: usize = 100;

/// A first message of `calls` is answered with ten calls at a time, ten times over; any other with a word.
const SCRIPT: &str = r#"
rules:
  - match: { contains: calls, step: 11 }
    respond: { text: "done" }
  - match: { contains: calls }
    respond:
      calls:
        - { name: calculate, arguments: { expression: "1+1" } }
        - { name: calculate, arguments: { expression: "1+2" } }
        - { name: calculate, arguments: { expression: "1+3" } }
        - { name: calculate, arguments: { expression: "1+4" } }
        - { name: calculate, arguments: { expression: "1+5" } }
        - { name: calculate, arguments: { expression: "1+6" } }
        - { name: calculate, arguments: { expression: "1+7" } }
        - { name: calculate, arguments: { expression: "1+8" } }
        - { name: calculate, arguments: { expression: "1+9" } }
        - { name: calculate, arguments: { expression: "1+10" } }
  - respond: { text: "yes" }
"#;
const CALLS_A_TURN: usize = 100;

fn main() -> ExitCode {
    // Guests are compiled by a process of their own: this one, told to be it.
    if std::env::args().nth(1).as_deref() == Some("compile") {
        return thetis_runtime::artifact::child::run();
    }
    match tokio::runtime::Runtime::new().map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(measure())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error:?}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let server = tokio::task::block_in_place(|| Postgres::start(&folder.path().join("postgres"), Durability::Durable))?;
    let compiler = Compiler::new(std::env::current_exe()?, vec!["compile".into()]);
    let script = Script::parse(SCRIPT).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let mut rig = Rig::start(Options { script, compiler, cache: folder.path().to_owned(), database: Some(server.url()) }).await?;
    rig.work(worker::Options::new("bench".to_owned()));
    println!("median (least .. most) of {ROUNDS} rounds");
    let (mut model, mut p50, mut p99) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        model.push(exchanges(&rig).await?.0);
        let (half, most) = turns(&rig).await?;
        p50.push(half);
        p99.push(most);
    }
    print("model exchange alone, p50 ms", &mut model);
    print("turn, input to end, p50 ms", &mut p50);
    print("turn, input to end, p99 ms", &mut p99);
    for agents in [1, 10, 100] {
        let mut rates = Vec::new();
        for _ in 0..ROUNDS.min(3) {
            rates.push(calls(&rig, agents).await?);
        }
        print(&format!("durable tool calls a second, {agents} agents"), &mut rates);
    }
    rig.rest().await;
    tokio::task::block_in_place(|| server.stop());
    Ok(())
}

/// The model's own time: one request and its streamed answer over the same loopback.
async fn exchanges(rig: &Rig) -> anyhow::Result<(f64, f64)> {
    let client = reqwest::Client::new();
    let url = format!("{}/chat/completions", rig.mock.base_url());
    let body = serde_json::json!({ "model": "mock/echo", "stream": true, "messages": [{ "role": "user", "content": "hello" }] });
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let start = Instant::now();
        client.post(&url).json(&body).send().await?.error_for_status()?.bytes().await?;
        times.push(start.elapsed());
    }
    Ok(quantiles(times))
}

/// From the moment somebody speaks to the moment the end of the turn is known to be durable.
async fn turns(rig: &Rig) -> anyhow::Result<(f64, f64)> {
    let conversation = rig.ask("hello").await?;
    rig.ended(conversation, 1).await?;
    let mut times = Vec::new();
    for turn in 2..TURNS + 2 {
        let start = Instant::now();
        rig.say(conversation, "hello").await?;
        rig.ended(conversation, turn).await?;
        times.push(start.elapsed());
    }
    Ok(quantiles(times))
}

async fn calls(rig: &Rig, agents: usize) -> anyhow::Result<f64> {
    let start = Instant::now();
    let asked = try_join_all((0..agents).map(|_| rig.ask("calls"))).await?;
    let ended = try_join_all(asked.into_iter().map(|conversation| rig.ended(conversation, 1))).await?;
    let took = start.elapsed().as_secs_f64();
    let results = |events: &[thetis_core::event::Event]| events.iter().filter(|event| event.body.kind() == "tool/result").count();
    let made: usize = ended.iter().map(|(events, _)| results(events)).sum();
    anyhow::ensure!(made == agents * CALLS_A_TURN, "{made} calls were made");
    Ok(u32::try_from(made).map(f64::from).context("a number of calls")? / took)
}

fn quantiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).map_or(f64::NAN, |time| time.as_secs_f64() * 1000.0);
    (at(50), at(99))
}

fn print(name: &str, values: &mut [f64]) {
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    println!("{name:<50} {:>10.3} ({:.3} .. {:.3})", at(values.len() / 2), at(0), at(values.len().saturating_sub(1)));
}
