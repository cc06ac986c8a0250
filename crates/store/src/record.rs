//! The records of sessions, by which any node can go on with a session.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use agentwire_jsonrpc::RawJson;
use futures_core::future::BoxFuture;

use crate::{SessionId, StoreError};

/// Numbers of streams that one node may use.
pub type StreamBlock = Range<u64>;

/// What a node needs to go on with a session that another node has opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionRecord {
    /// A digest of the principal that opened it. None where it was opened without one.
    pub principal: Option<[u8; 32]>,
    /// The messages of the client that made the session what it is, in their order: `initialize`, `notifications/initialized`, the
    /// last `logging/setLevel`, and a `resources/subscribe` for each URI. A node gives them to its service and drops the answers.
    pub messages: Vec<RawJson>,
    /// Counts the changes of `messages`.
    pub version: u64,
}

/// The records of sessions. A record ends when nobody has touched it for its time to live, by the clock of the store.
pub trait SessionRecords: fmt::Debug + Send + Sync + 'static {
    /// Adds a record.
    fn create(
        &self,
        session: SessionId,
        record: SessionRecord,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<(), StoreError>>;

    /// The record of a session, whose time to live begins anew. None where there is none: it has ended, or never was.
    fn load(&self, session: SessionId) -> BoxFuture<'static, Result<Option<SessionRecord>, StoreError>>;

    /// Begins the time to live anew.
    fn touch(&self, session: SessionId) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Replaces the messages where the version is still that of `record`, and counts it up. Returns whether it did.
    fn update(
        &self,
        session: SessionId,
        record: SessionRecord,
    ) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Forgets a record for good: [`load`](Self::load) finds nothing from now on. Returns whether there was one.
    fn delete(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Takes the next `count` numbers of streams of a session, which no other node gets.
    fn take_streams(
        &self,
        session: SessionId,
        count: u64,
    ) -> BoxFuture<'static, Result<StreamBlock, StoreError>>;
}
