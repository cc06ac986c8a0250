//! Messages between nodes, by sharded publish and subscribe.

use agentwire_store::{Bus, BusMessage, NodeId, StoreError, Subscription};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redis::Value;

use crate::error::unexpected;
use crate::store::RedisStore;
use crate::subscriptions::Envelope;

impl RedisStore {
    /// Sends a message. Returns the number of subscribers that the engine has sent it to.
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
        self.subscriber.subscribe(node)
    }
}
