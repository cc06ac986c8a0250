//! Keeps the hooks for list changes informed: subscribes at a modern server, and follows the gaps of a session.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_mcp_schema::SubscriptionFilter;
use agentwire_peer::{CallError, Clock, TokioClock};
use futures_util::future::{Either, select};

use crate::changes::{Change, ChangeQueue};
use crate::handler::ClientHandler;
use crate::{RemoteServer, Warning};

/// The first and the longest pause before subscribing again. Each is twice the one before.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// The most subscriptions that a server may leave unacknowledged.
const MAX_TRIES: usize = 5;

/// Runs `main`, and `side` until `main` ends.
pub(crate) async fn beside<T>(main: impl Future<Output = T>, side: impl Future<Output = ()>) -> T {
    let (main, side) = (std::pin::pin!(main), std::pin::pin!(side));
    match select(main, side).await {
        Either::Left((output, _)) => output,
        Either::Right(((), main)) => main.await,
    }
}

/// Keeps the hooks informed of the changes that the client has hooks for and the server offers to report.
pub(crate) async fn listen(server: RemoteServer, handler: ClientHandler) {
    let filter = wanted(&server, &handler);
    let wants_lists = filter != SubscriptionFilter::default();
    let wants_updates =
        handler.on_resource_updated.is_some() && server.capabilities().has("resources.subscribe");
    match server.connection().is_modern() {
        true if wants_lists => subscribe(&server, &handler, filter).await,
        false if wants_lists || wants_updates => follow_gaps(&server, &handler, &filter).await,
        _ => {}
    }
}

/// Calls the hooks after each gap of a session. The handler calls them for reported changes. Returns when the server reports
/// no more changes.
async fn follow_gaps(server: &RemoteServer, handler: &ClientHandler, filter: &SubscriptionFilter) {
    let queue = Arc::<ChangeQueue>::default();
    let _registration = server.connection().subscribe(SubscriptionFilter::default(), &queue);
    while queue.next().await == Change::Missed {
        handler.assume_changed(filter);
    }
}

/// Subscribes to changes, and again each time the server ends the subscription. Stops when the server refuses, or has left
/// too many subscriptions unacknowledged.
async fn subscribe(server: &RemoteServer, handler: &ClientHandler, filter: SubscriptionFilter) {
    let clock = TokioClock::default();
    let mut pause = PAUSES.0;
    let mut was_acknowledged = false;
    let mut tries = 0;
    loop {
        let since = clock.now();
        match server.listen(filter.clone()).await {
            Ok(subscription) => {
                let acknowledged = subscription.acknowledged().clone();
                if was_acknowledged {
                    // Changes between the two subscriptions were not reported.
                    handler.assume_changed(&acknowledged);
                } else if acknowledged != filter {
                    let nothing = acknowledged == SubscriptionFilter::default();
                    server.connection().warn(Warning::ChangesPartlyReported { acknowledged });
                    if nothing {
                        return;
                    }
                }
                was_acknowledged = true;
                // However it ended, the loop subscribes again.
                let _ = subscription.ended().await;
            }
            Err(
                error @ (CallError::Closed(_)
                | CallError::Failed { .. }
                | CallError::Cancelled { .. }
                | CallError::Unusable { .. }),
            ) => {
                tries += 1;
                if !was_acknowledged && tries == MAX_TRIES {
                    return server.connection().warn(Warning::ChangesNotReported { error });
                }
            }
            Err(error) => return server.connection().warn(Warning::ChangesNotReported { error }),
        }
        if server.connection().peer.is_closed() {
            return;
        }
        if lasted(&clock, since) > PAUSES.1 {
            pause = PAUSES.0;
        }
        clock.sleep(pause).await;
        pause = PAUSES.1.min(pause * 2);
    }
}

fn lasted(clock: &TokioClock, since: Instant) -> Duration {
    clock.now().saturating_duration_since(since)
}

fn wanted(server: &RemoteServer, handler: &ClientHandler) -> SubscriptionFilter {
    let caches = server.connection().cache.is_some();
    let can = |capability| server.capabilities().has(capability);
    SubscriptionFilter::default()
        .tools_list_changed((caches || handler.on_tools_changed.is_some()) && can("tools.listChanged"))
        .prompts_list_changed((caches || handler.on_prompts_changed.is_some()) && can("prompts.listChanged"))
        .resources_list_changed(
            (caches || handler.on_resources_changed.is_some()) && can("resources.listChanged"),
        )
}

impl ClientHandler {
    /// Calls the hooks as if the server had reported these changes.
    fn assume_changed(&self, changes: &SubscriptionFilter) {
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
