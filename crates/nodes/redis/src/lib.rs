//! The state that the nodes of one server share, on Redis 7 or Valkey 8.
//!
//! `agentwire_mcp_redis` here is `agentwire::mcp::redis` in the crate `agentwire`, with its feature `mcp-redis`.
//!
//! [`RedisStore`] implements each trait of [`agentwire_store`]: the events of streams, the records of sessions, messages between
//! nodes, leases of nodes, and names that are used once. Behind features it is also the store of tasks of `mcp-server`, and that
//! of an ACP agent's sessions. Proofs of possession for `mcp-auth` are names that are used once, by its `SharedReplayStore`.
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
//! | `{SESSION}:n` | string | the last number of a stream that is taken |
//! | `{SESSION}:e:STREAM` | stream, string | the events of a stream; the id of each is its place. A stream that is one event alone is a string: its place and that |
//! | `{SESSION}:x` | sorted set | the streams with events, in groups of 64: the number of a stream divided by that |
//! | `o:OWNER` | sorted set | the sessions of a caller, by the time at which each expires |
//! | `node:NODE` | string | the lease of a node |
//! | `once:NAME` | string | a name that is used once |
//! | `t:ID`, `to:OWNER`, `{t}:all`, `{t}:expiries` | string, sorted sets | tasks, and their lists |
//! | `a:{SESSION}:h`, `:j`, `:c`, `{a}:all` | string, list, string, sorted set | header, records and claim of an ACP session, and their list |
//! | `{bus}`, `{bus}:NODE` | channels | messages to all nodes, and to one |
//!
//! All keys of MCP expire. Keys of ACP sessions do not.
//!
//! # Invariants
//!
//! - The place of an event is the id of its entry, so the engine itself refuses a place that is taken. The end of a stream is an entry
//!   with the highest id, so the engine refuses every later one, also of a node that was only paused.
//! - Events of a stream are written in their order, again where the engine did not answer. A stream that has lost an event is
//!   deleted, and never replayed with a gap.
//! - Events have a connection of their own, and no pipeline of them has more than 1 MiB or one event. After one that had no answer
//!   in time the next is smaller, so events pass on a slow connection too. One that is alone has up to 8 times the time-out.
//! - Any other command takes at most [`RedisConfig::timeout`]. After five failures in a row of one engine, commands fail at
//!   once, except for one each second.
//! - A connection that leads nowhere is replaced once a command has had no answer.
//! - Leases, records, streams and names expire by the clock of the engine.
//! - A number of a stream is given once, also by an engine that has lost its last writes.
//! - A process that has lost its claim on an ACP session writes nothing more to it.
//! - No command spans slots of a cluster. The keys of a session share one.
//!
//! # Limits
//!
//! - What is acknowledged is as durable as the engine makes it. With `appendfsync everysec` a crash of the engine loses up to a second,
//!   and a failover to a replica loses what has not reached it. Events that it loses are missing in their streams, and names that it
//!   loses can be used again.
//! - Sessions without records have ended. So those of an engine that starts empty have, and their clients begin again.
//! - A node bounds the events of a session that it has stored itself. Several nodes together keep as much more.
//! - In a cluster a node writes the events of each sixteenth of the slots in a queue of its own, so a master that does not answer holds
//!   up the events in its slots alone. There commands always take their time to fail.

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
