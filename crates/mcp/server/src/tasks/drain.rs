//! Ends the tasks that run in this process, before the process ends.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agentwire_peer::{Clock, TokioClock};
use futures::future::{Either, join_all, pending, select};

use super::handle::TaskHandle;
use super::registry::TaskRegistry;

/// How long a node waits before it tries again to reach the store.
const PAUSE: Duration = Duration::from_millis(250);

/// Cancels all tasks at once, and waits until that is written.
pub(crate) fn cancel(registry: &TaskRegistry) -> impl Future<Output = ()> + Send + use<> {
    let handles = running(registry);
    for handle in &handles {
        handle.cancel("the server ends");
    }
    async move {
        join_all(handles.iter().map(|handle| handle.written())).await;
    }
}

/// Waits up to `grace` for all tasks to end, and cancels the rest. Clients' answers from other nodes are still received.
pub(crate) async fn drain(registry: &TaskRegistry, grace: Duration) {
    let clock = TokioClock::default();
    let mut ended = pin!(async {
        loop {
            let handles = running(registry);
            if handles.is_empty() {
                return;
            }
            join_all(handles.iter().map(|handle| handle.done())).await;
        }
    });
    // The transport received for the node until now, and may have ended.
    let received = pin!(async {
        let Some(node) = registry.node() else { return pending::<()>().await };
        let pause = || clock.sleep(PAUSE);
        loop {
            node.run(pause).await;
            pause().await;
        }
    });
    match select(select(&mut ended, clock.sleep(grace)), received).await {
        Either::Left((Either::Left(_), _)) => {}
        _ => cancel(registry).await,
    }
}

fn running(registry: &TaskRegistry) -> Vec<Arc<TaskHandle>> {
    let mut handles = registry.all();
    handles.retain(|handle| !handle.is_done());
    handles
}
