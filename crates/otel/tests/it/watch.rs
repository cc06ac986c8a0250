//! The counts of parts of a program.

use std::sync::Arc;

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
    assert_eq!(kept.points("agentwire.child.restarts"), ["agentwire.component=hub = 7"]);
    drop((endpoint, hubs));
    assert_eq!(kept.points("agentwire.sessions.active"), [""; 0]);
    assert_eq!(kept.points("agentwire.child.restarts"), ["agentwire.component=hub = 7"]);
}
