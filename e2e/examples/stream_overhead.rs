//! What the model client adds to each chunk of a stream: `cargo run --release -p thetis-e2e --example stream_overhead`.
//!
//! Two readers of the same endpoint take turns, round by round: one that only takes the bytes off the connection, and the
//! client. The endpoint runs in a thread of its own and sends as fast as it is read.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use thetis_core::event::{Body, Event, Source, Timestamp, UserMessage};
use thetis_core::id::Seq;
use thetis_core::settings::{CacheVendor, Model, Prices};
use thetis_e2e::mock::{Options, Script, Server};
use thetis_model::{Client, Request, client, wire};

const ROUNDS: usize = 15;
const WORDS: usize = 2_000;

fn main() -> anyhow::Result<()> {
    let base_url = serve()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(base_url))
}

/// Serves from a thread of its own.
fn serve() -> anyhow::Result<String> {
    let (say, hear) = std::sync::mpsc::channel();
    std::thread::spawn(move || -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let server = Server::start(Script::default(), Options { bind: "127.0.0.1:0".parse()?, key: None }).await?;
            say.send(server.base_url())?;
            server.wait().await?;
            Ok(())
        })
    });
    hear.recv().context("the endpoint did not start")
}

async fn measure(base_url: String) -> anyhow::Result<()> {
    let (mut bare, mut whole) = (Vec::new(), Vec::new());
    let client = Client::new(client::Options::default())?;
    let http = reqwest::Client::new();
    let model = Model {
        wire_id: "mock/echo".to_owned(),
        base_url,
        keyed: false,
        cache: CacheVendor::Implicit,
        context_tokens: 100_000,
        output_tokens: 10_000,
        prices: Prices::default(),
    };
    let text = vec!["word"; WORDS].join(" ");
    let body = Body::UserMessage(UserMessage { text, attachments: vec![], source: Source::Api });
    let event = Event { seq: Seq(1), at: Timestamp(0), turn: None, body };
    let request = Request { model: &model, system: &[], tools: &[], history: &[&event], blobs: &BTreeMap::new() };
    let body = wire::body(&request)?;
    let url = format!("{}/chat/completions", model.base_url);
    let deadline = tokio::time::Instant::now() + Duration::from_mins(10);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let mut response = http.post(&url).body(body.clone()).send().await?;
        while let Some(chunk) = response.chunk().await? {
            black_box(chunk);
        }
        bare.push(began.elapsed());
        let began = Instant::now();
        let mut chunks = 0_usize;
        client
            .step(&request, None, deadline, |delta| chunks += usize::from(!matches!(black_box(delta), thetis_model::Delta::Restart)))
            .await?;
        whole.push(began.elapsed());
        anyhow::ensure!(chunks == WORDS, "{chunks} pieces");
    }
    let (bare, whole) = (each(&mut bare), each(&mut whole));
    let added = whole - bare;
    let line =
        format!("per chunk, median of {ROUNDS} rounds of {WORDS}: bytes only {bare:.2} µs, client {whole:.2} µs, added {added:.2} µs\n");
    std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes())?;
    Ok(())
}

/// Microseconds a chunk, in the median round.
fn each(rounds: &mut [Duration]) -> f64 {
    rounds.sort_unstable();
    let median = rounds.get(rounds.len() / 2).copied().unwrap_or_default();
    median.div_f64(f64::from(u32::try_from(WORDS).unwrap_or(u32::MAX))).as_secs_f64() * 1e6
}
