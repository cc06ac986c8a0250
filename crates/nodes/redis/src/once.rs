//! Names that can be used once.

use std::time::Duration;

use agentwire_store::{MAX_ONCE_NAME, OnceStore, StoreError};
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use redis::Value;

use crate::events::message::millis;
use crate::store::RedisStore;

/// A name is too long.
#[derive(Debug, thiserror::Error)]
#[error("the name has {0} bytes, more than {max}", max = MAX_ONCE_NAME)]
struct LongName(usize);

impl OnceStore for RedisStore {
    /// The number of an owner's names is not limited, because they expire.
    fn insert(
        &self,
        name: &str,
        _: Option<&str>,
        remember: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>> {
        if name.len() > MAX_ONCE_NAME {
            return future::ready(Err(StoreError::full(LongName(name.len())))).boxed();
        }
        let (link, key) = (self.link.clone(), self.keys.once(name));
        async move {
            let mut command = redis::cmd("SET");
            command.arg(key).arg(1).arg("NX").arg("PX").arg(millis(remember));
            // Not repeated after a time-out: a second attempt cannot distinguish the name of the first from another caller's.
            Ok(link.run(&command).await? != Value::Nil)
        }
        .boxed()
    }

    fn contains(&self, name: &str) -> BoxFuture<'static, Result<bool, StoreError>> {
        let (link, key) = (self.link.clone(), self.keys.once(name));
        async move { Ok(link.run(redis::cmd("EXISTS").arg(key)).await? == Value::Int(1)) }.boxed()
    }

    fn remove(&self, name: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        let (link, key) = (self.link.clone(), self.keys.once(name));
        async move { link.run(redis::cmd("UNLINK").arg(key)).await.map(drop) }.boxed()
    }
}
