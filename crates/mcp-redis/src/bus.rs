//! Messages between nodes, by sharded publish and subscribe.

use agentwire_store::{Bus, BusEvent, BusMessage, NodeId, StoreError, Subscription};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, stream};
use redis::Value;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::error::unexpected;
use crate::store::RedisStore;
use crate::subscriptions::{Envelope, Request};

impl RedisStore {
    /// Returns how many nodes have got it.
    fn publish_to(
        &self,
        channel: String,
        from: Option<NodeId>,
        message: BusMessage,
    ) -> BoxFuture<'static, Result<i64, StoreError>> {
        let link = self.link.clone();
        async move {
            let text = serde_json::to_vec(&Envelope { from, message }).map_err(StoreError::damaged)?;
            match link.run(redis::cmd("SPUBLISH").arg(channel).arg(text)).await? {
                Value::Int(receivers) => Ok(receivers),
                _ => Err(unexpected("SPUBLISH")),
            }
        }
        .boxed()
    }
}

impl Bus for RedisStore {
    fn publish(&self, from: NodeId, message: BusMessage) -> BoxFuture<'static, Result<(), StoreError>> {
        let published = self.publish_to(self.keys.bus(), Some(from), message);
        async move { published.await.map(drop) }.boxed()
    }

    fn send(&self, to: NodeId, message: BusMessage) -> BoxFuture<'static, Result<bool, StoreError>> {
        let published = self.publish_to(self.keys.bus_of(to), None, message);
        async move { Ok(published.await? > 0) }.boxed()
    }

    fn subscribe(&self, node: NodeId) -> BoxFuture<'static, Result<Subscription, StoreError>> {
        let requests = self.subscriber.requests();
        async move {
            let (reply, receiver) = oneshot::channel();
            _ = requests.send(Request::Add(node, reply));
            let events = receiver.await.map_err(StoreError::away)??;
            let subscribed = Subscribed { events, _end: End { node, requests } };
            let events = stream::unfold(subscribed, async |mut subscribed| {
                let event = match subscribed.events.recv().await {
                    Ok(event) => event,
                    Err(RecvError::Lagged(_)) => BusEvent::Missed,
                    Err(RecvError::Closed) => return None,
                };
                Some((event, subscribed))
            });
            Ok(Box::pin(events) as Subscription)
        }
        .boxed()
    }
}

/// What a subscription holds. The fields are dropped in this order, so the task finds no receiver any more.
struct Subscribed {
    events: broadcast::Receiver<BusEvent>,
    _end: End,
}

/// Ends a subscription when it is dropped.
struct End {
    node: NodeId,
    requests: mpsc::UnboundedSender<Request>,
}

impl Drop for End {
    fn drop(&mut self) {
        _ = self.requests.send(Request::Remove(self.node));
    }
}
