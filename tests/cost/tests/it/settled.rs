//! Waits until the programs under test have done what they can.

use std::time::Duration;

use agentwire_cost_tests::Meter;

/// How often to look, and how often in a row nothing may have changed. Each look lets the runtime do all that is ready.
const STEP: Duration = Duration::from_millis(10);
const QUIET_STEPS: usize = 20;

/// How long to wait for one that never rests.
const MOST: Duration = Duration::from_secs(2);

/// Waits until memory is neither taken nor given back any more.
pub(crate) async fn settled() {
    let (mut before, mut quiet) = (Meter::allocated(), 0);
    let steps = async {
        while quiet < QUIET_STEPS {
            tokio::time::sleep(STEP).await;
            let now = Meter::allocated();
            quiet = if now == before { quiet + 1 } else { 0 };
            before = now;
        }
    };
    let _is_quiet = tokio::time::timeout(MOST, steps).await;
}
