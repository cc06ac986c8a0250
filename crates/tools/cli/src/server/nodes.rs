//! `server --redis`: connects to the key-value store, the engine, that several nodes of one server share.

use std::sync::Arc;

use agentwire_mcp_redis::{RedisConfig, RedisStore};
use agentwire_mcp_server::Server;
use agentwire_store::{Node, Stores};
use anyhow::{Context as _, Result};
use clap::Args;

use super::demo;
use crate::arguments::headers::Secret;
use crate::failure::Usage;

/// The variable with the URL of the engine, which other users of the machine cannot read.
const REDIS: &str = "AGENTWIRE_REDIS";

/// The options of the engine.
#[derive(Debug, Args)]
pub(crate) struct NodeOptions {
    /// Share sessions, streams, tasks and changes with other servers by the Redis or Valkey at this URL (redis:, rediss: or unix:),
    /// so that a client is served by any of them; HTTP+SSE is not shared. Other users of this machine can read the URL, but not
    /// $AGENTWIRE_REDIS, which is used where this is not given
    #[arg(long, value_name = "URL", requires = "network", conflicts_with = "store")]
    redis: Option<Secret>,
    /// The prefix of the keys in Redis; servers with different prefixes share nothing
    #[arg(long, value_name = "TEXT", default_value = "agentwire", requires = "network")]
    redis_prefix: String,
}

/// The connection to the key-value store.
pub(super) struct Engine(Arc<RedisStore>);

impl Engine {
    /// Joins the nodes on the engine that the options or the environment name. `None` if they name none.
    pub(super) async fn join(options: &NodeOptions, has_keys: bool) -> Result<Option<(Node, Self)>> {
        let variable = std::env::var(REDIS).ok().filter(|url| !url.is_empty()).map(Secret);
        let Some(Secret(url)) = options.redis.clone().or(variable) else { return Ok(None) };
        if !has_keys {
            // Without the same keys, a node could not open data that another node sealed.
            return Err(Usage("--redis: --keys FILE is needed, the same on all nodes".into()).into());
        }
        let config = RedisConfig::new(url).prefix(&options.redis_prefix);
        let redis = Arc::new(RedisStore::connect(config).await.context("--redis")?);
        let node = Node::join(Stores::of(&redis)).await.context("--redis")?;
        Ok(Some((node, Self(redis))))
    }

    /// The server with its tasks on the engine, where other nodes can read them.
    pub(super) fn share_tasks(&self, server: Server) -> Server {
        server.tasks(demo::tasks().store(self.0.clone()))
    }
}
