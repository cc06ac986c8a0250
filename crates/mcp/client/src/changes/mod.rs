//! The changes of a server, as a stream.

pub(crate) mod listening;
mod queue;
pub(crate) mod subscription;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_mcp_schema::SubscriptionFilter;
use agentwire_peer::CallError;
use futures_util::future::{BoxFuture, Fuse};
use futures_util::stream::{BoxStream, unfold};
use futures_util::{FutureExt, Stream, StreamExt, select_biased};

use crate::RemoteServer;

pub use self::queue::Change;
pub(crate) use self::queue::{ChangeQueue, QueueRegistration, SessionQueues};

/// The changes that one server reports on one connection, in every revision. Created by
/// [`RemoteServer::changes`](RemoteServer::changes).
///
/// ```
/// use agentwire_mcp_client::schema::SubscriptionFilter;
/// use agentwire_mcp_client::{CallError, Change, RemoteServer};
/// use futures_util::StreamExt;
///
/// async fn watch(server: &RemoteServer) -> Result<(), CallError> {
///     let filter = SubscriptionFilter::default().tools_list_changed(true).resource_subscriptions(["file:///a"]);
///     let mut changes = server.changes(filter).await?;
///     while let Some(change) = changes.next().await {
///         match change {
///             Change::Tools => println!("the tools"),
///             Change::Resource { uri, .. } => println!("{uri}"),
///             Change::Missed => println!("all of these, perhaps"),
///             Change::Unreported => println!("from now on, ask the server"),
///             other => println!("{other:?}"),
///         }
///     }
///     Ok(())
/// }
/// # let _ = watch;
/// ```
///
/// Queues up to 1024 different changes, of up to 1 MiB together. A change that is already queued is not queued again. On
/// overflow the queue is emptied, and the next item is [`Change::Missed`].
///
/// In a session over HTTP changes arrive on a stream of the session. When that breaks off and cannot be resumed,
/// [`Change::Missed`] comes once another one is open. [`Change::Unreported`] comes if the server has no such stream. A change in the
/// moment between the handshake and the first opening of the stream may be missed in silence.
///
/// The stream ends with the connection or the subscription, after the queued changes: a subscription since 2026-07-28 ends
/// when its request breaks off. Changes after that are missed, so subscribe and read again. Dropping the stream cancels a
/// subscription since 2026-07-28; in a session the server's later notifications are ignored.
#[must_use = "dropping it ends the subscription"]
pub struct Changes {
    changes: BoxStream<'static, Change>,
    acknowledged: SubscriptionFilter,
}

impl RemoteServer {
    /// Subscribes to changes of lists and resources, in every revision. Since 2026-07-28 this sends `subscriptions/listen`; in
    /// a session it sends `resources/subscribe` for each resource. The client's hooks are called as well.
    ///
    /// # Errors
    ///
    /// When the server refuses, or does not acknowledge within the client's [time limit](crate::Client::timeout).
    pub async fn changes(&self, filter: SubscriptionFilter) -> Result<Changes, CallError> {
        let queue = Arc::<ChangeQueue>::default();
        let (acknowledged, ended) = match self.revision().is_modern() {
            true => self.listen_for_changes(filter, &queue).await?,
            false => self.subscribe_to_changes(filter, &queue).await?,
        };
        let next = |(queue, mut ended): (Arc<ChangeQueue>, Fuse<BoxFuture<'static, ()>>)| async move {
            // Queued changes come before the end.
            let change = select_biased! {
                change = queue.next().fuse() => change,
                () = ended => return None,
            };
            Some((change, (queue, ended)))
        };
        let changes = unfold((queue, ended.fuse()), next).fuse().boxed();
        Ok(Changes { changes, acknowledged })
    }

    async fn listen_for_changes(
        &self,
        filter: SubscriptionFilter,
        queue: &Arc<ChangeQueue>,
    ) -> Result<(SubscriptionFilter, BoxFuture<'static, ()>), CallError> {
        let queue = queue.clone();
        let subscription = self.listen_with(filter, move |notification| queue.add(notification)).await?;
        let acknowledged = subscription.acknowledged().clone();
        Ok((acknowledged, subscription.ended().map(drop).boxed()))
    }

    async fn subscribe_to_changes(
        &self,
        filter: SubscriptionFilter,
        queue: &Arc<ChangeQueue>,
    ) -> Result<(SubscriptionFilter, BoxFuture<'static, ()>), CallError> {
        let acknowledged = self.offered(&filter);
        let registration = self.connection().subscribe(acknowledged.clone(), queue);
        for uri in &filter.resource_subscriptions {
            self.subscribe(uri).await?;
        }
        let server = self.clone();
        let ended = async move {
            let _registration = registration;
            server.closed().await;
        };
        Ok((acknowledged, ended.boxed()))
    }

    /// The part of a filter that a server with sessions supports.
    fn offered(&self, filter: &SubscriptionFilter) -> SubscriptionFilter {
        let can = |capability| self.capabilities().has(capability);
        SubscriptionFilter::default()
            .tools_list_changed(filter.tools_list_changed && can("tools.listChanged"))
            .prompts_list_changed(filter.prompts_list_changed && can("prompts.listChanged"))
            .resources_list_changed(filter.resources_list_changed && can("resources.listChanged"))
            .resource_subscriptions(filter.resource_subscriptions.clone())
    }
}

impl Changes {
    /// The changes that the server agreed to report, which may be fewer than requested.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }
}

impl Stream for Changes {
    type Item = Change;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        self.changes.poll_next_unpin(cx)
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("acknowledged", &self.acknowledged).finish_non_exhaustive()
    }
}
