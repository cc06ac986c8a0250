//! Listening to one server for longer than a connection to it lasts.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use agentwire_mcp_client::{CallError, Server};
use agentwire_mcp_schema::SubscriptionFilter;
use agentwire_peer::{Clock, TokioClock};
use agentwire_sync::Mutex;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, unfold};
use futures::{FutureExt, Stream, StreamExt, select_biased};

use crate::call::HubError;
use crate::change::{Change, Ears, Heard};
use crate::state::Shared;

/// The first and the longest pause before a server that is still there is listened to again. Each is twice the one before.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// How often in a row that may fail in a way that may pass.
const TRIES: usize = 5;

/// What [`Hub::listen`](crate::Hub::listen) gives: the changes of one server, over all connections to it.
///
/// The same change waits once, and up to 1024 wait for whoever does not take them. A server that is listened to again, or
/// more changes than that, is told by [`Change::Missed`].
///
/// It ends with an error when the server can no longer be listened to: it refuses that after it was started again, or it is
/// gone for good. It ends without one when the hub is closed. Since it is this stream that listens again, it has to be
/// polled for that; dropping it tells a server since 2026-07-28 to stop. In a session the server goes on telling, which
/// nobody hears.
#[must_use = "the server tells nobody when it is dropped"]
pub struct Listening {
    changes: BoxStream<'static, Result<Change, HubError>>,
    acknowledged: Arc<Mutex<SubscriptionFilter>>,
}

impl Listening {
    pub(crate) async fn open(
        shared: Arc<Shared>,
        place: usize,
        filter: SubscriptionFilter,
    ) -> Result<Self, HubError> {
        let acknowledged = Arc::<Mutex<SubscriptionFilter>>::default();
        let ears = shared.ears(place);
        let heard = Arc::default();
        let mut listener = Listener {
            shared,
            place,
            filter,
            ears,
            heard,
            seen: 0,
            acknowledged: acknowledged.clone(),
            open: None,
            pauses: Pauses::default(),
        };
        listener.open_first().await?;
        let next = |listener: Option<Listener>| async move { listener?.next().await };
        let changes = unfold(Some(listener), next).boxed();
        Ok(Self { changes, acknowledged })
    }

    /// What the server agreed to tell the last time, which may be less than it was asked.
    pub fn acknowledged(&self) -> SubscriptionFilter {
        self.acknowledged.lock().clone()
    }
}

impl Stream for Listening {
    type Item = Result<Change, HubError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.changes.poll_next_unpin(cx)
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening").field("acknowledged", &self.acknowledged()).finish_non_exhaustive()
    }
}

/// Who listens.
struct Listener {
    shared: Arc<Shared>,
    place: usize,
    filter: SubscriptionFilter,
    ears: Ears,
    heard: Arc<Heard>,
    /// Which connection was listened on last.
    seen: u64,
    acknowledged: Arc<Mutex<SubscriptionFilter>>,
    /// Completes when nothing is heard any more; none while nobody listens.
    open: Option<BoxFuture<'static, ()>>,
    pauses: Pauses,
}

impl Listener {
    async fn open_first(&mut self) -> Result<(), HubError> {
        let mut least = 0;
        loop {
            let server = self.server(least).await?;
            match self.listen(&server).await {
                Ok(()) => return Ok(()),
                // It has crashed meanwhile, and may be started again.
                Err(error) if may_pass(&error) && !is_open(&server) => least = self.seen + 1,
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// The next change, or why there are no more. None when the hub is closed.
    async fn next(mut self) -> Option<(Result<Change, HubError>, Option<Self>)> {
        loop {
            let Some(open) = &mut self.open else {
                match self.listen_again().await {
                    Ok(()) => self.heard.miss(),
                    Err(HubError::Unavailable { state, .. }) if state.reason().is_none() => return None,
                    Err(error) => return Some((Err(error), None)),
                }
                continue;
            };
            // What was heard before the end comes before it.
            let change = select_biased! {
                change = self.heard.next().fuse() => Some(change),
                () = open.fuse() => None,
            };
            match change {
                Some(change) => return Some((Ok(change), Some(self))),
                None => self.open = None,
            }
        }
    }

    /// Listens on the next connection, or on the same one where that is not over.
    async fn listen_again(&mut self) -> Result<(), HubError> {
        let clock = TokioClock::default();
        let mut tries = 0;
        loop {
            let server = match self.shared.connected_as(self.place, self.seen) {
                Some(server) if is_open(&server) => {
                    let now = clock.now();
                    clock.sleep_until(now + self.pauses.next(now)).await;
                    server
                }
                _ => {
                    tries = 0;
                    self.server(self.seen + 1).await?
                }
            };
            match self.listen(&server).await {
                Ok(()) => return Ok(()),
                // It may be that the server is gone once more.
                Err(error) if may_pass(&error) && !is_open(&server) => {}
                Err(error) if may_pass(&error) && tries + 1 < TRIES => tries += 1,
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// The server, once there is a connection that is at least this one.
    async fn server(&mut self, least: u64) -> Result<Server, HubError> {
        let (seen, server) = self
            .shared
            .until_callable(self.place, least)
            .await
            .map_err(|state| HubError::Unavailable { server: self.shared.name(self.place), state })?;
        self.seen = seen;
        Ok(server)
    }

    /// Asks a server to tell, in the way of its era.
    async fn listen(&mut self, server: &Server) -> Result<(), CallError> {
        let heard = self.heard.clone();
        let acknowledged = if server.revision().is_stateless() {
            let hook = move |notification| heard.add(notification);
            let subscription = server.listen_with(self.filter.clone(), hook).await?;
            let acknowledged = subscription.acknowledged().clone();
            // However it ends, it is tried again.
            self.open = Some(subscription.ended().map(drop).boxed());
            acknowledged
        } else {
            let acknowledged = offered(server, &self.filter);
            let ear = Ear::open(&self.ears, acknowledged.clone(), heard);
            for uri in &self.filter.resource_subscriptions {
                server.subscribe(uri).await?;
            }
            let server = server.clone();
            self.open = Some(
                async move {
                    let _ear = ear;
                    server.closed().await;
                }
                .boxed(),
            );
            acknowledged
        };
        *self.acknowledged.lock() = acknowledged;
        self.pauses.since = Some(TokioClock::default().now());
        Ok(())
    }

    fn failed(&self, source: CallError) -> HubError {
        HubError::Call { server: self.shared.name(self.place), source }
    }
}

/// How long is waited before a server is listened to again: also one that agrees each time, and ends it at once.
#[derive(Debug, Default)]
struct Pauses {
    /// Since when it was listened to.
    since: Option<Instant>,
    last: Option<Duration>,
}

impl Pauses {
    fn next(&mut self, now: Instant) -> Duration {
        let lasted = self.since.take().is_some_and(|since| now.saturating_duration_since(since) > PAUSES.1);
        let pause = self.last.filter(|_| !lasted).map_or(PAUSES.0, |last| PAUSES.1.min(last * 2));
        self.last = Some(pause);
        pause
    }
}

/// A session is heard for as long as this is kept.
struct Ear {
    ears: Ears,
    heard: Arc<Heard>,
}

impl Ear {
    fn open(ears: &Ears, filter: SubscriptionFilter, heard: Arc<Heard>) -> Self {
        ears.open(filter, &heard);
        Self { ears: ears.clone(), heard }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.ears.close(&self.heard);
    }
}

/// What a server with sessions tells of all that is asked.
fn offered(server: &Server, filter: &SubscriptionFilter) -> SubscriptionFilter {
    let can = |capability| server.capabilities().has(capability);
    SubscriptionFilter::default()
        .tools_list_changed(filter.tools_list_changed && can("tools.listChanged"))
        .prompts_list_changed(filter.prompts_list_changed && can("prompts.listChanged"))
        .resources_list_changed(filter.resources_list_changed && can("resources.listChanged"))
        .resource_subscriptions(filter.resource_subscriptions.clone())
}

fn is_open(server: &Server) -> bool {
    server.closed().now_or_never().is_none()
}

/// Whether it may be that the next try succeeds.
fn may_pass(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Closed(_)
            | CallError::TimedOut { .. }
            | CallError::Failed { .. }
            | CallError::Cancelled { .. }
            | CallError::Unusable { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_at_once_what_it_agreed_to_is_asked_less_and_less_often() {
        let (mut pauses, mut now) = (Pauses::default(), Instant::now());
        let waited: Vec<_> = [0, 0, 1, 60, 0, 0, 0, 0, 61, 0]
            .map(|lasts| {
                pauses.since = Some(now);
                now += Duration::from_secs(lasts);
                pauses.next(now).as_secs()
            })
            .into();
        assert_eq!(waited, [1, 2, 4, 8, 16, 32, 60, 60, 1, 2]);
    }
}
