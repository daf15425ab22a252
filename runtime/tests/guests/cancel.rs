//! A call that is dropped, wherever it stood, leaves nothing behind.

use std::time::Duration;

use thetis_runtime::engine::InUse;
use thetis_runtime::limits::Bounds;

use crate::fixture::{Host, tight, tool};
use crate::imports::sleeper;

/// A simple generator, so that a failing seed can be run again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

async fn check(hostile: Vec<u8>, rounds: u64, most: Duration) {
    let host = Host::new();
    let hostile = host.know(hostile);
    host.is_healthy().await;
    let mut random = Random(15);
    let bounds = Bounds { slice: Duration::from_secs(20), ..tight() };
    for round in 0..rounds {
        let patience = Duration::from_micros(random.below(u64::try_from(most.as_micros()).unwrap()));
        let dropped = tokio::time::timeout(patience, host.call(hostile, "{}", &bounds)).await;
        assert!(dropped.is_err(), "round {round} ended by itself: {dropped:?}");
        assert_eq!(host.engine.in_use(), InUse::default(), "round {round}");
    }
    host.is_healthy().await;
}

#[tokio::test]
async fn a_call_that_waits_in_the_host_is_dropped_at_any_await() {
    check(sleeper(), 1000, Duration::from_millis(2)).await;
}

#[tokio::test]
async fn a_call_that_computes_is_dropped_at_any_tick() {
    check(tool("", "(loop $again (br $again)) unreachable"), 20, Duration::from_millis(30)).await;
}

#[tokio::test]
async fn a_call_that_is_polled_a_few_times_and_dropped() {
    let host = Host::new();
    let sleeper = host.know(sleeper());
    host.is_healthy().await;
    let bounds = tight();
    let mut random = Random(16);
    for _ in 0..200 {
        let mut call = std::pin::pin!(host.call(sleeper, "{}", &bounds));
        for _ in 0..random.below(8) {
            let _ = futures::poll!(&mut call);
            tokio::task::yield_now().await;
        }
    }
    host.is_healthy().await;
}
