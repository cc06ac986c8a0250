//! A client that has something for changes of lists hears of them in either era, without asking for it.

use std::time::{Duration, Instant};

use agentwire_mcp_schema::SubscriptionFilter;
use agentwire_peer::{CallError, Clock, TokioClock};
use futures::future::{Either, select};

use crate::front::Front;
use crate::{Server, Warning};

/// The first and the longest pause before listening again. Each is twice the one before.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// How often a server is asked that never says what it agrees to.
const TRIES: usize = 5;

/// Runs `main`, and beside it what may end before or must end with it.
pub(crate) async fn beside<T>(main: impl Future<Output = T>, side: impl Future<Output = ()>) -> T {
    let (main, side) = (std::pin::pin!(main), std::pin::pin!(side));
    match select(main, side).await {
        Either::Left((output, _)) => output,
        Either::Right(((), main)) => main.await,
    }
}

/// Listens for the changes that the client has something for and that the server offers to tell of, again when
/// the server ends that, until it refuses, or turns out to answer nobody.
pub(crate) async fn listen(server: Server, front: Front) {
    let filter = wanted(&server, &front);
    if !server.is_stateless() || filter == SubscriptionFilter::default() {
        return;
    }
    let clock = TokioClock::default();
    let mut pause = PAUSES.0;
    let mut heard_before = false;
    let mut tries = 0;
    loop {
        let since = clock.now();
        match server.listen(filter.clone()).await {
            Ok(subscription) => {
                let acknowledged = subscription.acknowledged().clone();
                if heard_before {
                    // Something may have changed while nobody listened.
                    front.tell_of(&acknowledged);
                } else if acknowledged != filter {
                    let nothing = acknowledged == SubscriptionFilter::default();
                    server.warn(Warning::NotAllHeard { acknowledged });
                    if nothing {
                        return;
                    }
                }
                heard_before = true;
                // However it ended, it is tried again.
                let _ = subscription.ended().await;
            }
            Err(
                error @ (CallError::Closed(_)
                | CallError::Failed { .. }
                | CallError::Cancelled { .. }
                | CallError::Unusable { .. }),
            ) => {
                tries += 1;
                if !heard_before && tries == TRIES {
                    return server.warn(Warning::NotHeard { error });
                }
            }
            Err(error) => return server.warn(Warning::NotHeard { error }),
        }
        if server.peer.is_closed() {
            return;
        }
        if lasted(&clock, since) > PAUSES.1 {
            pause = PAUSES.0;
        }
        clock.sleep_until(clock.now() + pause).await;
        pause = PAUSES.1.min(pause * 2);
    }
}

fn lasted(clock: &TokioClock, since: Instant) -> Duration {
    clock.now().saturating_duration_since(since)
}

fn wanted(server: &Server, front: &Front) -> SubscriptionFilter {
    let caches = front.connected.is_some();
    let can = |capability| server.capabilities().has(capability);
    SubscriptionFilter::default()
        .tools_list_changed((caches || front.on_tools_changed.is_some()) && can("tools.listChanged"))
        .prompts_list_changed((caches || front.on_prompts_changed.is_some()) && can("prompts.listChanged"))
        .resources_list_changed(
            (caches || front.on_resources_changed.is_some()) && can("resources.listChanged"),
        )
}

impl Front {
    /// Tells of changes as if the server had.
    fn tell_of(&self, changes: &SubscriptionFilter) {
        if changes.tools_list_changed {
            self.tools_changed();
        }
        if changes.prompts_list_changed {
            self.prompts_changed();
        }
        if changes.resources_list_changed {
            self.resources_changed();
        }
    }
}
