//! The counts of parts of a program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_otel::{Config, Counts};

use crate::support::kept;

#[test]
fn parts_are_added_up_until_they_are_dropped() {
    let kept = kept(Config::new());
    let endpoint = Arc::new(|| Counts::new().sessions(2).streams(1));
    let hubs = [3, 4].map(|restarts| Arc::new(move || Counts::new().child_restarts(restarts)));
    kept.telemetry.watch("endpoint", &endpoint);
    hubs.iter().for_each(|hub| kept.telemetry.watch("hub", hub));
    assert_eq!(kept.points("agentwire.sessions.active"), ["agentwire.component=endpoint = 2"]);
    assert_eq!(kept.points("agentwire.streams.active"), ["agentwire.component=endpoint = 1"]);
    assert_eq!(kept.points("agentwire.exchanges.active"), [""; 0]);
    assert_eq!(kept.points("agentwire.ready"), [""; 0]);
    assert_eq!(kept.points("agentwire.child.restarts"), ["agentwire.component=hub = 7"]);
    drop((endpoint, hubs));
    assert_eq!(kept.points("agentwire.sessions.active"), [""; 0]);
    assert_eq!(kept.points("agentwire.child.restarts"), ["agentwire.component=hub = 7"]);
}

#[test]
fn component_is_ready_if_all_its_parts_are() {
    let kept = kept(Config::new());
    let one_is_ready = Arc::new(AtomicBool::new(true));
    let read = one_is_ready.clone();
    let one = Arc::new(move || Counts::new().ready(read.load(Ordering::Relaxed)));
    let other = Arc::new(|| Counts::new().ready(true));
    kept.telemetry.watch("endpoint", &one);
    kept.telemetry.watch("endpoint", &other);
    assert_eq!(kept.points("agentwire.ready"), ["agentwire.component=endpoint = 1"]);
    one_is_ready.store(false, Ordering::Relaxed);
    assert_eq!(kept.points("agentwire.ready"), ["agentwire.component=endpoint = 0"]);
}
