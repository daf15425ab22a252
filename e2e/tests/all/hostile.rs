//! Tools that misbehave in every way while twenty other conversations go on: each way has its typed ending, nobody else
//! notices, and nothing is left.

use std::time::Duration;

use futures::future::try_join_all;
use thetis_core::event::{Body, CallOutcome, TurnStatus};
use thetis_core::settings::{AspectKind, Grants, Limits};
use thetis_runtime::worker;

use crate::turns::rig;

/// How the fixture is told to misbehave, and how the call ends.
const WAYS: [(&str, CallOutcome); 13] = [
    ("trap", CallOutcome::Trapped),
    ("panic", CallOutcome::Trapped),
    ("exit", CallOutcome::Trapped),
    ("spin", CallOutcome::TimedOut),
    ("spin-host", CallOutcome::TimedOut),
    ("sleep", CallOutcome::TimedOut),
    ("recurse", CallOutcome::OverLimit),
    ("memory", CallOutcome::OverLimit),
    ("handles", CallOutcome::OverLimit),
    ("random", CallOutcome::OverLimit),
    ("stdout", CallOutcome::OverLimit),
    ("result", CallOutcome::OverLimit),
    ("error", CallOutcome::OverLimit),
];

#[tokio::test(flavor = "multi_thread")]
async fn turn_outlives_every_hostile_tool_beside_twenty_others() {
    let hostile = WAYS.map(|(how, _)| {
        format!("  - match: {{ contains: \"misbehave: {how};\", last: user }}\n    respond: {{ calls: [{{ name: hostile, arguments: {{ how: {how} }} }}] }}\n")
    });
    let good =
        "  - match: { contains: work, last: user }\n    respond: { calls: [{ name: calculate, arguments: { expression: \"6*7\" } }] }\n";
    let mut rig = rig(&format!("rules:\n{}{good}", hostile.concat())).await;
    rig.register(&AspectKind::Tool, "hostile", "fixture-hostile", Grants::default()).await.unwrap();
    rig.work(worker::Options::new("test".to_owned()));

    let limits = Limits { tool_seconds: 3, ..Limits::default() };
    let mut resident = Vec::new();
    for _ in 0..3 {
        let bad = try_join_all(WAYS.iter().map(|(how, _)| rig.ask_with(limits, format!("misbehave: {how};"))));
        let others = try_join_all((0..20).map(|_| rig.ask("work")));
        let (bad, others) = tokio::try_join!(bad, others).unwrap();
        for conversation in others {
            let (events, end) = rig.ended(conversation, 1).await.unwrap();
            assert_eq!(end.status, TurnStatus::Completed);
            assert_eq!(outcomes(&events), [CallOutcome::Answered]);
        }
        for (conversation, (how, outcome)) in bad.into_iter().zip(WAYS) {
            let ended = tokio::time::timeout(Duration::from_mins(1), rig.ended(conversation, 1)).await;
            let (events, end) = ended.unwrap_or_else(|_| panic!("{how} is not stopped")).unwrap();
            assert_eq!(end.status, TurnStatus::Completed, "{how}: a tool's failure is not the turn's");
            assert_eq!(outcomes(&events), [outcome], "{how}: {events:#?}");
        }
        resident.push(resident_bytes());
    }
    // The first rounds bring what there always is: linked components, connections, pages that the pool keeps. One bomb's
    // memory left behind would be 64 MiB more.
    assert!(resident[2] < resident[1] + (32 << 20), "host memory after each round: {resident:?}");
}

fn outcomes(events: &[thetis_core::event::Event]) -> Vec<CallOutcome> {
    let results = events.iter().filter_map(|event| match &event.body {
        Body::ToolResult(result) => Some(result.outcome),
        _ => None,
    });
    results.collect()
}

/// Of this process, as the kernel counts it.
fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}
