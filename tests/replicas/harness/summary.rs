//! The report at the end of a run.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::balancer::Balancer;
use crate::history::{Count, History};

const ROWS: &[(Count, &str)] = &[
    (Count::NodeKills, "nodes killed"),
    (Count::EngineKills, "engine killed"),
    (Count::Deployed, "nodes replaced"),
    (Count::Sessions, "sessions"),
    (Count::Calls, "calls with a key"),
    (Count::OfPeers, "  by clients on other libraries"),
    (Count::Acknowledged, "  acknowledged"),
    (Count::Unknown, "  unknown to the client"),
    (Count::Interrupted, "    of them by an error"),
    (Count::Refused, "  refused"),
    (Count::Cancelled, "  cancelled"),
    (Count::Unavailable, "answers 503 or 429"),
    (Count::CutByClient, "streams left by the client"),
    (Count::Resumed, "streams resumed"),
    (Count::Replayed, "results replayed at the end"),
    (Count::WithoutId, "results without an id"),
    (Count::Answers, "questions answered"),
    (Count::Tasks, "tasks"),
    (Count::TasksFailed, "  of them failed"),
    (Count::Subscriptions, "subscriptions"),
    (Count::Changes, "changes heard of"),
    (Count::Probes, "probes of sessions of others"),
    (Count::LostByEngine, "acknowledged and lost by the engine"),
];

/// Prints the counts, and each violation.
pub(crate) fn print(history: &History, balancer: &Balancer, time: Duration) {
    for (count, name) in ROWS {
        println!("{name:<40}{:>8}", history.counted(*count));
    }
    let counts = balancer.counts();
    for (name, count) in [
        ("requests through the balancer", &counts.requests),
        ("  passed on to another node", &counts.passed_on),
        ("  answered 502 by it", &counts.bad_gateway),
        ("  answered 503 by it", &counts.unavailable),
    ] {
        println!("{name:<40}{:>8}", count.load(Ordering::Relaxed));
    }
    println!("{:<40}{:>8.1} s", "longest time of unavailability", history.longest_gap().as_secs_f32());
    println!("{:<40}{:>8.1} s", "time", time.as_secs_f32());
    let violations = history.violations();
    for violation in &violations {
        println!("VIOLATION {violation}");
    }
    println!("{} violations", violations.len());
}
