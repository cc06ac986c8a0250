//! What the nodes of one server share, on Redis 7 or Valkey 8.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bus;
mod circuit;
mod config;
mod connection;
#[cfg(feature = "acp")]
mod conversations;
mod entry;
mod error;
mod events;
mod keys;
mod link;
mod nodes;
mod once;
#[cfg(feature = "auth")]
mod proofs;
mod records;
mod store;
mod subscriptions;
#[cfg(feature = "tasks")]
mod tasks;
mod writer;

pub use config::RedisConfig;
pub use error::ConnectError;
pub use store::RedisStore;
