//! What the model client adds to each chunk of a stream, and to a step: `cargo run --release -p thetis-e2e --example stream_overhead`.
//!
//! Two readers of the same endpoint take turns, round by round: one that only takes the bytes off the connection, and the
//! client. The endpoint runs in a thread of its own and sends as fast as it is read. What is counted is the processor time of
//! the reader's thread, so that other load on the machine does not matter. Linux only.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use anyhow::Context as _;
use thetis_core::event::{Body, Event, Source, Timestamp, UserMessage};
use thetis_core::id::Seq;
use thetis_core::settings::{CacheVendor, Model, Prices};
use thetis_e2e::mock::{Options, Script, Server};
use thetis_model::{Client, Delta, Request, client, wire};

const ROUNDS: usize = 101;
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
    let long = rounds(&client, &http, &model, &vec!["word"; WORDS].join(" "), WORDS).await?;
    report("chunk of a long stream", long, WORDS)?;
    let short = rounds(&client, &http, &model, "word", 1).await?;
    report("step with a reply of one word", short, 1)
}

/// The median round of each reader.
async fn rounds(client: &Client, http: &reqwest::Client, model: &Model, text: &str, words: usize) -> anyhow::Result<[Duration; 2]> {
    let body = Body::UserMessage(UserMessage { text: text.to_owned(), attachments: vec![], source: Source::Api });
    let event = Event { seq: Seq(1), at: Timestamp(0), turn: None, body };
    let request = Request { model, system: &[], tools: &[], history: &[&event], blobs: &BTreeMap::new() };
    let body = wire::body(&request)?;
    let url = format!("{}/chat/completions", model.base_url);
    let deadline = tokio::time::Instant::now() + Duration::from_mins(10);
    let (mut bare, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let began = processor_time()?;
        let mut response = http.post(&url).body(body.clone()).send().await?;
        while let Some(chunk) = response.chunk().await? {
            black_box(chunk);
        }
        bare.push(processor_time()?.saturating_sub(began));
        let began = processor_time()?;
        let mut chunks = 0_usize;
        client.step(&request, None, deadline, |delta| chunks += usize::from(!matches!(black_box(delta), Delta::Restart))).await?;
        whole.push(processor_time()?.saturating_sub(began));
        anyhow::ensure!(chunks == words, "{chunks} pieces");
    }
    Ok([median(&mut bare), median(&mut whole)])
}

/// What this thread has used so far.
fn processor_time() -> anyhow::Result<Duration> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = statistics.split_whitespace().next().context("no figure")?;
    Ok(Duration::from_nanos(nanoseconds.parse()?))
}

fn median(rounds: &mut [Duration]) -> Duration {
    rounds.sort_unstable();
    rounds.get(rounds.len() / 2).copied().unwrap_or_default()
}

fn report(what: &str, [bare, whole]: [Duration; 2], parts: usize) -> anyhow::Result<()> {
    let each = |round: Duration| round.div_f64(f64::from(u32::try_from(parts).unwrap_or(u32::MAX))).as_secs_f64() * 1e6;
    let (bare, whole) = (each(bare), each(whole));
    let line = format!("{what}: bytes only {bare:.2} µs, client {whole:.2} µs, added {:.2} µs (medians of {ROUNDS})\n", whole - bare);
    std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes())?;
    Ok(())
}
