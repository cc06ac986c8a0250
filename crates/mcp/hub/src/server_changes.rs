//! A subscription to one server that outlives its connections.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use agentwire_mcp_client::{CallError, Change, Changes, RemoteServer};
use agentwire_mcp_schema::SubscriptionFilter;
use agentwire_peer::{Clock, TokioClock};
use agentwire_sync::Mutex;
use futures_util::stream::{BoxStream, unfold};
use futures_util::{FutureExt, Stream, StreamExt};

use crate::error::HubError;
use crate::state::Shared;

/// The first and the longest pause before resubscribing to a connected server. Each pause doubles.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// The maximum number of consecutive temporary failures.
const TRIES: usize = 5;

/// The changes of one server, over all connections to it. Created by [`Hub::listen`](crate::Hub::listen).
///
/// ```no_run
/// use agentwire_mcp_hub::schema::SubscriptionFilter;
/// use agentwire_mcp_hub::{Hub, HubError};
/// use futures_util::StreamExt;
///
/// # async fn run(hub: Hub) -> Result<(), HubError> {
/// let mut changes = hub.listen("files", SubscriptionFilter::new().tools_list_changed(true)).await?;
/// while let Some(change) = changes.next().await {
///     println!("{:?}", change?);
/// }
/// # Ok(())
/// # }
/// ```
///
/// Up to 1024 different changes of up to 1 MiB together are queued. After an overflow, a gap or a new subscription the stream
/// yields [`Change::Missed`]. It yields [`Change::Unreported`] if the server of a session reports changes only while calls run.
///
/// The stream ends with an error when the server refuses the subscription after a restart, or has died for good. It ends
/// without an error when the hub is closed. It resubscribes while it is polled. Dropping it cancels the subscription since
/// 2026-07-28; in a session the server's later notifications are ignored.
#[must_use = "dropping it ends the subscription"]
pub struct ServerChanges {
    changes: BoxStream<'static, Result<Change, HubError>>,
    acknowledged: Arc<Mutex<SubscriptionFilter>>,
}

impl ServerChanges {
    pub(crate) async fn open(
        shared: Arc<Shared>,
        place: usize,
        filter: SubscriptionFilter,
    ) -> Result<Self, HubError> {
        let acknowledged = Arc::<Mutex<SubscriptionFilter>>::default();
        let mut listener = Listener {
            shared,
            place,
            filter,
            seen: 0,
            acknowledged: acknowledged.clone(),
            open: None,
            pauses: Pauses::default(),
        };
        listener.open_first().await?;
        let next = |listener: Option<Listener>| async move { listener?.next().await };
        let changes = unfold(Some(listener), next).fuse().boxed();
        Ok(Self { changes, acknowledged })
    }

    /// The filter that the server acknowledged last, which may be less than the requested one.
    pub fn acknowledged(&self) -> SubscriptionFilter {
        self.acknowledged.lock().clone()
    }
}

impl Stream for ServerChanges {
    type Item = Result<Change, HubError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.changes.poll_next_unpin(cx)
    }
}

impl fmt::Debug for ServerChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerChanges").field("acknowledged", &self.acknowledged()).finish_non_exhaustive()
    }
}

/// Subscribes to the server, again and again.
struct Listener {
    shared: Arc<Shared>,
    place: usize,
    filter: SubscriptionFilter,
    /// The number of the last connection with a subscription.
    seen: u64,
    acknowledged: Arc<Mutex<SubscriptionFilter>>,
    /// The changes of the connection; `None` while there is no subscription.
    open: Option<Changes>,
    pauses: Pauses,
}

impl Listener {
    async fn open_first(&mut self) -> Result<(), HubError> {
        let mut least = 0;
        loop {
            let server = self.server(least).await?;
            match self.listen(&server).await {
                Ok(()) => return Ok(()),
                // It has crashed and may be restarted.
                Err(error) if may_pass(&error) && !is_open(&server) => least = self.seen + 1,
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// The next change, or the error that ends the stream. `None` when the hub is closed.
    async fn next(mut self) -> Option<(Result<Change, HubError>, Option<Self>)> {
        loop {
            let Some(open) = &mut self.open else {
                match self.listen_again().await {
                    Ok(()) => return Some((Ok(Change::Missed), Some(self))),
                    Err(HubError::Unavailable { state, .. }) if state.reason().is_none() => return None,
                    Err(error) => return Some((Err(error), None)),
                }
            };
            match open.next().await {
                Some(change) => return Some((Ok(change), Some(self))),
                // The hub subscribes again, however it ended.
                None => self.open = None,
            }
        }
    }

    /// Subscribes on the next connection, or on the same one while it lasts.
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
                // The server may have crashed again.
                Err(error) if may_pass(&error) && !is_open(&server) => {}
                Err(error) if may_pass(&error) && tries + 1 < TRIES => tries += 1,
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Waits for a connection with at least this number.
    async fn server(&mut self, least: u64) -> Result<RemoteServer, HubError> {
        let (seen, server) = self
            .shared
            .until_callable(self.place, least)
            .await
            .map_err(|state| HubError::Unavailable { server: self.shared.name(self.place), state })?;
        self.seen = seen;
        Ok(server)
    }

    /// Subscribes: by `subscriptions/listen` on a modern server, by `resources/subscribe` in a session.
    async fn listen(&mut self, server: &RemoteServer) -> Result<(), CallError> {
        let changes = server.changes(self.filter.clone()).await?;
        *self.acknowledged.lock() = changes.acknowledged().clone();
        self.open = Some(changes);
        self.pauses.since = Some(TokioClock::default().now());
        Ok(())
    }

    fn failed(&self, source: CallError) -> HubError {
        HubError::Call { server: self.shared.name(self.place), source }
    }
}

/// The pauses before resubscribing. They also grow for a server that accepts each subscription and ends it at once.
#[derive(Debug, Default)]
struct Pauses {
    /// When the last subscription began.
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

fn is_open(server: &RemoteServer) -> bool {
    server.closed().now_or_never().is_none()
}

/// Whether the next try may succeed.
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
