//! What a call into a guest costs: beside bare wasmtime with the same component in the same run, and for a component whose
//! compiled code is on disk and nowhere else. Prints medians over rounds; run with `cargo bench -p thetis-runtime`.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a benchmark prints, and fails by panicking")]
#![expect(clippy::indexing_slicing, clippy::cast_precision_loss, reason = "the numbers of a benchmark are small")]

#[path = "../tests/guests/fixture.rs"]
#[expect(dead_code, reason = "shared with the tests, which use the rest")]
mod fixture;

use std::time::{Duration, Instant};

use thetis_core::outcome::Outcome;
use thetis_runtime::bindings::exports::thetis::grip::tool;
use thetis_runtime::guest::Places;
use thetis_runtime::limits::Bounds;
use wasmtime::component::{Component, InstancePre, Linker, ResourceTable};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

const ROUNDS: usize = 9;
const CALLS: usize = 2000;
const PLACES: Places = Places { agents: 16, tools: 16, loaded: 16 };

/// wasmtime as its documentation shows it: async, the pooling allocator, WASI, no limit of any kind.
struct Bare {
    pre: InstancePre<Plain>,
    tool: tool::GuestIndices,
}

struct Plain {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for Plain {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl Bare {
    fn new(component: &[u8]) -> Self {
        let mut config = Config::new();
        config.allocation_strategy(InstanceAllocationStrategy::pooling());
        let engine = Engine::new(&config).unwrap();
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        let pre = linker.instantiate_pre(&Component::new(&engine, component).unwrap()).unwrap();
        let tool = tool::GuestIndices::new(&pre).unwrap();
        Self { pre, tool }
    }

    async fn call(&self, arguments: &str) -> Result<String, String> {
        let plain = Plain { wasi: WasiCtx::builder().build(), table: ResourceTable::new() };
        let mut store = Store::new(self.pre.engine(), plain);
        let instance = self.pre.instantiate_async(&mut store).await.unwrap();
        let call = tool::Call { arguments: arguments.to_owned(), idempotency_key: "key".to_owned() };
        self.tool.load(&mut store, &instance).unwrap().call_run(&mut store, &call).await.unwrap()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let calculate = (fixture::aspect("tool-calculate"), r#"{"expression":"6*7"}"#);
    compare("hand-written echo (no imports)", &fixture::echo(), "{}").await;
    compare("tool-calculate (Rust, WASI)", &calculate.0, calculate.1).await;
    first_reply("tool-calculate (Rust, WASI)", calculate.0, calculate.1).await;
}

/// Alternates rounds of both, so that whatever else the machine does falls on both.
async fn compare(name: &str, component: &[u8], arguments: &str) {
    let host = fixture::Host::with(PLACES);
    let digest = host.know(component.to_vec());
    let bare = Bare::new(component);
    let bounds = Bounds::default();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut round = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let start = Instant::now();
            let outcome = host.call(digest, arguments, &bounds).await;
            round.push(start.elapsed());
            assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
        }
        ours.push(quantiles(round));
        let mut round = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let start = Instant::now();
            let answer = bare.call(arguments).await;
            round.push(start.elapsed());
            assert!(answer.is_ok(), "{answer:?}");
        }
        theirs.push(quantiles(round));
    }
    let (ours, theirs) = (middle(ours), middle(theirs));
    println!("{name}: fresh limited store, instance, call and drop");
    println!("  ours           p50 {:>8.2?}  p99 {:>8.2?}", ours.0, ours.1);
    println!("  bare wasmtime  p50 {:>8.2?}  p99 {:>8.2?}", theirs.0, theirs.1);
    println!("  ratio          p50 {:>8.2}  p99 {:>8.2}", ratio(ours.0, theirs.0), ratio(ours.1, theirs.1));
}

/// Each time with guests that know nothing: the code is on disk, read, checked, loaded, linked, and called.
async fn first_reply(name: &str, component: Vec<u8>, arguments: &str) {
    let bounds = Bounds::default();
    let host = fixture::Host::with(PLACES);
    let digest = host.know(component.clone());
    host.call(digest, arguments, &bounds).await;
    let mut times = Vec::new();
    for _ in 0..200 {
        let fresh = host.fresh();
        let start = Instant::now();
        let outcome = fresh.call(digest, arguments, &bounds).await;
        times.push(start.elapsed());
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    }
    let (p50, p99) = quantiles(times);
    println!("{name}: compiled code on disk to first reply\n  ours           p50 {p50:>8.2?}  p99 {p99:>8.2?}");
}

fn quantiles(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// The medians of the rounds' medians and of their 99th percentiles.
fn middle(rounds: Vec<(Duration, Duration)>) -> (Duration, Duration) {
    let (p50, p99): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
    (quantiles(p50).0, quantiles(p99).0)
}

fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_nanos() as f64 / theirs.as_nanos() as f64
}
