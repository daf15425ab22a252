//! Measures the append: one conversation beside the disk and a single-row commit, and many beside `pgbench`, all on one
//! private Postgres with its production settings. Prints one line a round and the medians.
//!
//! `cargo run --release -p thetis-store --example append_bench [rounds] [seconds] [committers]`

#![expect(clippy::indexing_slicing, reason = "of arrays and of what was just filled")]

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use futures::future::try_join_all;
use sqlx::{ConnectOptions as _, PgConnection};
use thetis_core::event::{Body, Text};
use thetis_core::id::{ConversationId, Seq, SeqRange};
use thetis_core::settings::{Choice, Limits};
use thetis_postgres::{Binaries, Durability, Postgres};
use thetis_store::Store;
use thetis_store::conversation::New;
use thetis_store::lease::Hold;
use thetis_store::log::Append;
use thetis_store::open::Options;
use thetis_store::seal::SealingKey;

/// Of one event, as JSON.
const BYTES: usize = 1024;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program that prints figures")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let rounds = arguments.next().transpose()?.unwrap_or(5);
    let seconds = Duration::from_secs(arguments.next().transpose()?.unwrap_or(3) as u64);
    let committers = arguments.next().transpose()?.unwrap_or(2);
    let folder = tempfile::tempdir()?;
    let server = Postgres::start(folder.path(), Durability::Durable)?;
    let store = Store::open(Options { committers, ..Options::new(server.url(), SealingKey::generate()) }).await?;
    let mut beside = server.url().parse::<sqlx::postgres::PgConnectOptions>()?.connect().await?;
    sqlx::raw_sql("create table floor (id bigserial primary key, body json not null)").execute(&mut beside).await?;
    let holds = try_join_all((0..256).map(|number| claim(&store, number))).await?;

    let mut figures: Vec<(&str, Vec<f64>)> = Vec::new();
    let mut note = |name, figure: f64| match figures.iter_mut().find(|(known, _)| *known == name) {
        Some((_, values)) => values.push(figure),
        None => figures.push((name, vec![figure])),
    };
    for round in 0..rounds {
        let disk = syncs(folder.path(), seconds)?;
        let floor = single_commits(&mut beside, seconds).await?;
        let one = one_conversation(&store, &holds, seconds).await?;
        let [events, p50, p99] = many_conversations(&store, &holds, seconds, 1).await?;
        let [batched, ..] = many_conversations(&store, &holds, seconds, 4).await?;
        let single = pgbench(&server, 1, seconds)?;
        let sixteen = pgbench(&server, 16, seconds)?;
        let many = pgbench(&server, 64, seconds)?;
        println!("round {round}: commit {floor:.3?} ms, append {one:.3?} ms, 256 conversations {events:.0}/s, pgbench 64 {many:.0}/s");
        note("fdatasync of 8 KiB on the same disk, p50 ms", disk[0]);
        note("fdatasync of 8 KiB on the same disk, p99 ms", disk[1]);
        note("single-row commit, p50 ms", floor[0]);
        note("single-row commit, p99 ms", floor[1]);
        note("append, one conversation, p50 ms", one[0]);
        note("append, one conversation, p99 ms", one[1]);
        note("append p50 / single-row commit p50", one[0] / floor[0]);
        note("append p50 / fdatasync p50", one[0] / disk[0]);
        note("256 conversations, events/s", events);
        note("256 conversations, append p50 ms", p50);
        note("256 conversations, append p99 ms", p99);
        note("256 conversations, 4 events an append, events/s", batched);
        note("pgbench, 1 client, rows/s", single);
        note("pgbench, 16 clients, rows/s", sixteen);
        note("pgbench, 64 clients, rows/s", many);
        note("256 conversations / pgbench 64 clients", events / many);
    }
    println!("\nmedian (least .. most) of {rounds} rounds of {seconds:?}, {committers} committers, {BYTES}-byte events");
    for (name, mut values) in figures {
        values.sort_by(f64::total_cmp);
        println!("{name:<50} {:>10.3} ({:.3} .. {:.3})", values[values.len() / 2], values[0], values[values.len() - 1]);
    }
    for hold in holds.iter().take(4) {
        let row = store.conversation_by_id(hold.conversation).await?.context("it is there")?;
        let events = store.read(hold.conversation, SeqRange { first: Seq(1), last: row.tail }).await?;
        if !events.iter().zip(1..).all(|(event, seq)| event.seq == Seq(seq)) || events.len() as u64 != row.tail.0 {
            bail!("the log of {} has gaps", hold.conversation);
        }
    }
    Ok(())
}

async fn claim(store: &Store, number: u128) -> anyhow::Result<Hold> {
    let choice = Choice { mode: "m".into(), model: "m".into(), skills: vec![], agent: "a".into(), limits: Limits::default() };
    // Random in all bytes, as real ids are.
    let id = ConversationId(uuid::Uuid::from_u128(number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)));
    let prompt = thetis_core::event::UserMessage { text: "go".into(), attachments: vec![], source: thetis_core::event::Source::Api };
    store.create(&New { id, namespace: "bench".into(), name: number.to_string(), title: None, choice, prompt: Some(prompt) }).await?;
    Ok(store.claim(id, "bench", Duration::from_hours(1)).await?.context("it is free")?.hold)
}

fn event() -> Body {
    let around = r#"{"text":""}"#.len();
    Body::Note(Text { text: "The quick brown fox jumps over the lazy dog. ".repeat(BYTES / 40).chars().take(BYTES - around).collect() })
}

fn percentiles(mut latencies: Vec<Duration>) -> [f64; 2] {
    latencies.sort_unstable();
    let at = |share: usize| latencies.get(latencies.len() * share / 100).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1000.0);
    [at(50), at(99)]
}

/// The floor below the floor: what the disk needs to make one write durable.
fn syncs(folder: &Path, seconds: Duration) -> anyhow::Result<[f64; 2]> {
    let mut file = tempfile::tempfile_in(folder)?;
    let page = [7; 8 << 10];
    let (mut latencies, end) = (Vec::new(), Instant::now() + seconds);
    while Instant::now() < end {
        let begin = Instant::now();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&page)?;
        file.sync_data()?;
        latencies.push(begin.elapsed());
    }
    Ok(percentiles(latencies))
}

/// The floor: what one row in a commit of its own costs here.
async fn single_commits(connection: &mut PgConnection, seconds: Duration) -> anyhow::Result<[f64; 2]> {
    let body = event().encode();
    let (mut latencies, end) = (Vec::new(), Instant::now() + seconds);
    while Instant::now() < end {
        let begin = Instant::now();
        sqlx::query("insert into floor (body) values ($1::json)").bind(&body).execute(&mut *connection).await?;
        latencies.push(begin.elapsed());
    }
    Ok(percentiles(latencies))
}

async fn one_conversation(store: &Store, holds: &[Hold], seconds: Duration) -> anyhow::Result<[f64; 2]> {
    let hold = holds.first().context("there is one")?;
    let (latencies, _) = write(store, *hold, Instant::now() + seconds, 1).await?;
    Ok(percentiles(latencies))
}

/// Events a second, and how long each append took.
async fn many_conversations(store: &Store, holds: &[Hold], seconds: Duration, events: usize) -> anyhow::Result<[f64; 3]> {
    let (begin, end) = (Instant::now(), Instant::now() + seconds);
    let tasks = holds.iter().map(|hold| {
        let (store, hold) = (store.clone(), *hold);
        async move { tokio::spawn(async move { write(&store, hold, end, events).await }).await? }
    });
    let written = try_join_all(tasks).await?;
    let took = begin.elapsed().as_secs_f64();
    let count: u32 = written.iter().map(|(_, count)| count).sum();
    let [p50, p99] = percentiles(written.into_iter().flat_map(|(latencies, _)| latencies).collect());
    Ok([f64::from(count) / took, p50, p99])
}

async fn write(store: &Store, hold: Hold, end: Instant, events: usize) -> anyhow::Result<(Vec<Duration>, u32)> {
    let mut tail = store.conversation_by_id(hold.conversation).await?.context("it is there")?.tail;
    let (mut latencies, mut count) = (Vec::new(), 0);
    let bodies = vec![event(); events];
    while Instant::now() < end {
        let begin = Instant::now();
        let done = store.append(Append { hold, tail, turn: None, bodies: bodies.clone(), end: None }).await?;
        latencies.push(begin.elapsed());
        tail = Seq(done.first.0 + events as u64 - 1);
        count += u32::try_from(events)?;
    }
    Ok((latencies, count))
}

/// Single-row inserts of the same body by Postgres' own load generator.
fn pgbench(server: &Postgres, clients: usize, seconds: Duration) -> anyhow::Result<f64> {
    let script = tempfile::NamedTempFile::new()?;
    std::fs::write(script.path(), format!("insert into floor (body) values ('{}');\n", event().encode()))?;
    let folder = Binaries::found().into_iter().next().context("Postgres is here")?.folder;
    let output = Command::new(folder.join("pgbench"))
        .args(["-n", "-M", "prepared", "-U", "thetis", "-j", "2", "-c", &clients.to_string(), "-T", &seconds.as_secs().to_string()])
        .arg("-f")
        .arg(script.path())
        .arg("-h")
        .arg(server.sockets())
        .arg("postgres")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    rate.with_context(|| format!("pgbench says {text} {}", String::from_utf8_lossy(&output.stderr)))
}
