//! The leases of nodes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agentwire_store::{Lease, NodeId, Nodes, StoreError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redis::{Cmd, Value};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::events::message::millis;
use crate::link::Link;
use crate::permissions;
use crate::store::RedisStore;

/// KEYS: the lease. ARGV: its name, milliseconds. Renews the lease. Returns 0 if it is gone or has another name.
const RENEW: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

/// KEYS: the lease. ARGV: its name. Deletes the lease if it has that name.
const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])";

impl Nodes for RedisStore {
    fn join(&self, node: NodeId) -> BoxFuture<'static, Result<Box<dyn Lease>, StoreError>> {
        let (link, key, time) = (self.link.clone(), self.keys.node(node), self.lease);
        // If a node joins again, its new lease has another name.
        let name = self.lease_count.fetch_add(1, Ordering::Relaxed).to_string();
        async move {
            let sent = Instant::now();
            link.run(redis::cmd("SET").arg(&key).arg(&name).arg("PX").arg(millis(time))).await?;
            let state = LeaseState { steady_since: Some(Instant::now()), is_lost: false };
            let held = Arc::new(watch::Sender::new(state));
            let lease = RedisLease { node, key, name, time, link, held };
            tokio::spawn(renew(
                lease.script(RENEW, Some(time)),
                lease.link.clone(),
                time,
                sent,
                lease.held.clone(),
            ));
            Ok(Box::new(lease) as Box<dyn Lease>)
        }
        .boxed()
    }

    fn is_alive(&self, node: NodeId) -> BoxFuture<'static, Result<bool, StoreError>> {
        let (link, key) = (self.link.clone(), self.keys.node(node));
        async move { Ok(link.run(redis::cmd("EXISTS").arg(key)).await? == Value::Int(1)) }.boxed()
    }

    fn check(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        let (link, keys) = (self.link.clone(), self.keys.clone());
        async move { permissions::try_session(&link, &keys).await }.boxed()
    }
}

/// A key that expires unless it is renewed.
struct RedisLease {
    node: NodeId,
    key: String,
    /// The value of the key.
    name: String,
    time: Duration,
    link: Arc<Link>,
    held: Arc<watch::Sender<LeaseState>>,
}

/// The state of a lease.
struct LeaseState {
    /// The time since which every renewal has succeeded. `None` after a failed renewal.
    steady_since: Option<Instant>,
    /// True once the lease is lost or released.
    is_lost: bool,
}

impl RedisLease {
    fn script(&self, script: &str, time: Option<Duration>) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(1).arg(&self.key).arg(&self.name).arg(time.map(millis));
        command
    }

    /// Marks the lease as lost at this node. Returns false if it was lost already.
    fn end(&self) -> bool {
        self.held.send_if_modified(|held| !std::mem::replace(&mut held.is_lost, true))
    }
}

impl Lease for RedisLease {
    fn node(&self) -> NodeId {
        self.node
    }

    fn lost(&self) -> BoxFuture<'static, ()> {
        let mut held = self.held.subscribe();
        async move { _ = held.wait_for(|held| held.is_lost).await }.boxed()
    }

    fn is_settled(&self) -> bool {
        let held = self.held.borrow();
        !held.is_lost && held.steady_since.is_some_and(|since| since.elapsed() >= self.time)
    }

    fn release(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.end();
        let (link, command) = (self.link.clone(), self.script(RELEASE, None));
        async move { link.run(&command).await.map(drop) }.boxed()
    }
}

impl Drop for RedisLease {
    fn drop(&mut self) {
        if self.end()
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

/// Renews a lease by `command` until it is released or lost. It is lost if its key is gone, or if the engine has not answered for the
/// duration of the lease. That duration counts from the sending of the last successful renewal, so it ends no later than the key.
async fn renew(
    command: Cmd,
    link: Arc<Link>,
    time: Duration,
    mut renewed: Instant,
    state: Arc<watch::Sender<LeaseState>>,
) {
    let mut released = state.subscribe();
    let mut wait = time / 3;
    loop {
        tokio::select! {
            _ = released.wait_for(|held| held.is_lost) => return,
            () = tokio::time::sleep(wait) => (),
        }
        let sent = Instant::now();
        let reply = tokio::time::timeout_at(renewed + time, link.run(&command)).await;
        let is_renewed = matches!(reply, Ok(Ok(Value::Int(1))));
        if is_renewed {
            (renewed, wait) = (sent, time / 3);
        } else {
            // The next attempt comes sooner.
            wait = (time / 15).min(link.timeout());
        }
        let is_lost = !is_renewed && (!matches!(reply, Ok(Err(_))) || renewed + time <= Instant::now());
        state.send_modify(|held| {
            held.steady_since = is_renewed.then(|| held.steady_since.unwrap_or_else(Instant::now));
            held.is_lost |= is_lost;
        });
    }
}
