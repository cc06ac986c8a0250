//! The records of sessions, from which any node can continue a session.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use agentwire_jsonrpc::RawJson;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{SessionId, StoreError};

/// Numbers for streams that one node may use.
pub type StreamBlock = Range<u64>;

/// The data that a node needs to continue a session that another node has opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionRecord {
    /// The SHA-256 digest of the name of the principal that opened the session. `None` if it was opened without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<[u8; 32]>,
    /// The name of the caller whose share of the room the record uses, as in [`EventStore::open`](crate::EventStore::open).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The messages of the client from which a service can rebuild the session, in order: `initialize`,
    /// `notifications/initialized`, the last `logging/setLevel`, and a `resources/subscribe` for each URI. A node gives them to
    /// its service and drops the responses.
    pub messages: Vec<RawJson>,
    /// The number of changes to `messages` so far.
    pub version: u64,
}

impl SessionRecord {
    /// The record of a new session, whose version is 0, without an owner.
    pub fn new(principal: Option<[u8; 32]>, messages: Vec<RawJson>) -> Self {
        Self { principal, owner: None, messages, version: 0 }
    }
}

/// Stores the records of sessions.
///
/// A record expires when it was not touched for its time to live, by the clock of the store. An expired record counts as deleted.
/// Ids are random and never used again, so a deleted session cannot come back.
///
/// A session can be open at several nodes at once. No node owns it.
pub trait SessionRecords: fmt::Debug + Send + Sync + 'static {
    /// Adds a record, durably. The caller sends the session's id to the client after that.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] if there is no room, or the owner of the record has used up its share.
    fn create(
        &self,
        session: SessionId,
        record: SessionRecord,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Returns the record of a session, or `None` if the session has ended or never existed. A node answers 404 only for `None`,
    /// and never when this fails. Does not restart the time to live, because the sender may not be the client of the session.
    fn load(&self, session: SessionId) -> BoxFuture<'static, Result<Option<SessionRecord>, StoreError>>;

    /// Restarts the time to live. Returns whether there is a record. A node that missed the end of a session finds it out here.
    ///
    /// A node calls this at the first use of a session, whose record has a short time to live until then. For a session in use it
    /// calls this once in a tenth of the time to live.
    fn touch(
        &self,
        session: SessionId,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Replaces the record if the stored version equals that of `record`, and increments the version, durably. Does not restart
    /// the time to live. Returns false if the version differs or there is no record; the caller then loads the record again.
    fn update(
        &self,
        session: SessionId,
        record: SessionRecord,
    ) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Deletes a record, durably. Returns whether there was one.
    fn delete(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Deletes a record whose version is 0, durably: no node has used its session. Returns whether it was deleted.
    fn delete_unused(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Takes the next `count` numbers for streams of a session, durably. No other call gets any of them. The first number is 1. A
    /// store skips numbers if it cannot know which was taken last. Returns `None` if there is no record.
    fn take_streams(
        &self,
        session: SessionId,
        count: u64,
    ) -> BoxFuture<'static, Result<Option<StreamBlock>, StoreError>>;
}
