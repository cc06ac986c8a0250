//! The leases of nodes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_store::{Lease, NodeId, Nodes, StoreError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redis::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::link::Link;
use crate::message::millis;
use crate::store::RedisStore;

/// The system has no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the system has no randomness for the id of a node")]
struct NoRandomness;

impl Nodes for RedisStore {
    fn join(&self) -> BoxFuture<'static, Result<Box<dyn Lease>, StoreError>> {
        let (link, keys, time) = (self.link.clone(), self.keys.clone(), self.lease);
        async move {
            let node = NodeId::random().ok_or_else(|| StoreError::away(NoRandomness))?;
            let key = keys.node(node);
            let sent = Instant::now();
            link.run(redis::cmd("SET").arg(&key).arg(1).arg("PX").arg(millis(time))).await?;
            let (state, _) = watch::channel(false);
            let state = Arc::new(state);
            tokio::spawn(renew(link.clone(), key.clone(), time, sent, state.clone()));
            Ok(Box::new(RedisLease { node, key, link, lost: state }) as Box<dyn Lease>)
        }
        .boxed()
    }

    fn is_alive(&self, node: NodeId) -> BoxFuture<'static, Result<bool, StoreError>> {
        let (link, key) = (self.link.clone(), self.keys.node(node));
        async move { Ok(link.run(redis::cmd("EXISTS").arg(key)).await? == Value::Int(1)) }.boxed()
    }

    fn check(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        let link = self.link.clone();
        async move { link.run(&redis::cmd("PING")).await.map(drop) }.boxed()
    }
}

/// A key that expires unless it is renewed.
struct RedisLease {
    node: NodeId,
    key: String,
    link: Arc<Link>,
    /// True once the lease is lost or released.
    lost: Arc<watch::Sender<bool>>,
}

impl Lease for RedisLease {
    fn node(&self) -> NodeId {
        self.node
    }

    fn lost(&self) -> BoxFuture<'static, ()> {
        let mut lost = self.lost.subscribe();
        async move { _ = lost.wait_for(|lost| *lost).await }.boxed()
    }

    fn release(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.lost.send_replace(true);
        let (link, key) = (self.link.clone(), self.key.clone());
        async move { link.run(redis::cmd("UNLINK").arg(key)).await.map(drop) }.boxed()
    }
}

impl Drop for RedisLease {
    fn drop(&mut self) {
        if !self.lost.send_replace(true)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(self.release());
        }
    }
}

impl fmt::Debug for RedisLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisLease").field("node", &self.node).finish_non_exhaustive()
    }
}

/// Renews a lease until it is released, or lost: the key is gone, or the engine has not answered for as long as the lease lasts. That
/// time counts from the sending of the last command that renewed it, so it ends no later than the key.
async fn renew(
    link: Arc<Link>,
    key: String,
    time: Duration,
    mut renewed: Instant,
    state: Arc<watch::Sender<bool>>,
) {
    let mut released = state.subscribe();
    let mut command = redis::cmd("PEXPIRE");
    command.arg(&key).arg(millis(time));
    let mut wait = time / 3;
    loop {
        tokio::select! {
            _ = released.wait_for(|released| *released) => return,
            () = tokio::time::sleep(wait) => (),
        }
        let sent = Instant::now();
        let reply = tokio::time::timeout_at(renewed + time, link.run(&command)).await;
        if *released.borrow() {
            return;
        }
        match reply {
            Ok(Ok(Value::Int(1))) => (renewed, wait) = (sent, time / 3),
            // It is tried sooner again.
            Ok(Err(_)) if renewed + time > Instant::now() => wait = (time / 15).min(link.timeout()),
            _ => {
                state.send_replace(true);
                return;
            }
        }
    }
}
