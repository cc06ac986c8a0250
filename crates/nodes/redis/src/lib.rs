//! The state that the nodes of one server share, on Redis 7 or Valkey 8.
//!
//! `agentwire_mcp_redis` here is `agentwire::mcp::redis` in the crate `agentwire`, with its feature `mcp-redis`.
//!
//! [`RedisStore`] implements each trait of [`agentwire_store`]: the events of streams, the records of sessions, messages between
//! nodes, leases of nodes, and names that can be used once. Behind features it also implements the task store of `mcp-server` and
//! the session store of `acp-sessions`. The `SharedReplayStore` of `mcp-auth` stores proofs of possession as names that can be used
//! once. "Engine" means Redis or Valkey. The engine is *away* while it cannot be reached or cannot serve.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use agentwire_mcp_redis::{RedisConfig, RedisStore};
//! use agentwire_store::Stores;
//!
//! # async fn connect() -> Result<(), agentwire_mcp_redis::ConnectError> {
//! let config = RedisConfig::new("redis://127.0.0.1:6379").prefix("example");
//! let stores = Stores::of(&Arc::new(RedisStore::connect(config).await?));
//! # Ok(())
//! # }
//! ```
//!
//! # What is stored
//!
//! | key, behind the prefix | type | content |
//! |---|---|---|
//! | `{SESSION}:s` | string | the record of a session |
//! | `{SESSION}:n` | string | the highest stream number that is taken |
//! | `{SESSION}:e:STREAM` | stream, string | the events of a stream; the id of each entry is the event's place. A stream with a single event, which ended it, is a string: the place and the event |
//! | `{SESSION}:x` | sorted set | the streams with events, in groups of 64: group = stream number / 64 |
//! | `o:OWNER` | sorted set | the sessions of a caller, by the time at which each expires |
//! | `node:NODE` | string | the lease of a node |
//! | `once:NAME` | string | a name that was used |
//! | `t:ID`, `to:OWNER`, `{t}:all`, `{t}:expiries` | string, sorted sets | tasks, and their lists |
//! | `a:{SESSION}:h`, `:j`, `:c`, `{a}:all` | string, list, string, sorted set | header, records and claim of an ACP session, and their list |
//! | `{bus}`, `{bus}:NODE` | channels | messages to all nodes, and to one |
//!
//! All keys of MCP expire. Keys of ACP sessions do not.
//!
//! # Invariants
//!
//! - The place of an event is the id of its entry, so the engine refuses a place that is taken. The end of a stream is an entry with
//!   the highest id, so the engine refuses every later entry, also from a node that was only paused.
//! - Events of a stream are written in their order, and again if the engine did not answer. A stream that has lost an event is
//!   deleted, and never replayed with a gap.
//! - Events have a connection of their own. A pipeline of events has at most 1 MiB, or a single larger event. After a time-out the next
//!   pipeline is smaller, so that events pass on a slow connection too. A single event has up to 8 times the time-out.
//! - Any other command takes at most [`RedisConfig::timeout`]. After five failures in a row of a single engine, commands fail at once,
//!   except for one each second.
//! - A dead connection is replaced after a command on it has timed out.
//! - Leases, records, streams and names expire by the clock of the engine.
//! - A stream number is given once, also by an engine that has lost its last writes.
//! - A process that has lost its claim on an ACP session cannot write to it.
//! - No command spans slots of a cluster. The keys of a session share one.
//!
//! # Limits
//!
//! - Acknowledged writes are as durable as the engine makes them. With `appendfsync everysec` a crash of the engine loses up to a
//!   second, and a failover to a replica loses the writes that the replica lacks. Lost events are missing in their streams, and lost
//!   names can be used again.
//! - A session without a record has ended. So if an engine starts empty, all sessions have ended, and their clients begin again.
//! - Each node bounds the events of a session that it has stored itself, so several nodes together keep several times as many.
//! - In a cluster a node has a queue of events for each sixteenth of the slots, so a master that does not answer delays the events of
//!   its own slots only. There is no circuit breaker in a cluster: each command that fails takes its time-out.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bus;
#[cfg(feature = "acp")]
mod claims;
#[cfg(feature = "acp")]
mod conversations;
mod error;
mod events;
mod json;
mod link;
mod new_session;
mod nodes;
mod once;
mod permissions;
mod records;
mod store;
mod subscriptions;
#[cfg(feature = "tasks")]
mod tasks;

pub use error::ConnectError;
pub use link::config::RedisConfig;
pub use store::RedisStore;
