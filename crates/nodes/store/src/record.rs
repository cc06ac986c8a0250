//! The records of sessions, with which any node can continue a session.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use agentwire_jsonrpc::RawJson;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{SessionId, StoreError};

/// Numbers of streams that one node may use.
pub type StreamBlock = Range<u64>;

/// The data that a node needs to continue a session that another node has opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionRecord {
    /// The SHA-256 digest of the name of the principal that opened it. `None` if it was opened without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<[u8; 32]>,
    /// The name of the caller that the room of the record counts for, as in [`EventStore::open`](crate::EventStore::open).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The messages of the client that lead to the session's state, in their order: `initialize`, `notifications/initialized`,
    /// the last `logging/setLevel`, and a `resources/subscribe` for each URI. A node gives them to its service and drops the
    /// answers.
    pub messages: Vec<RawJson>,
    /// Counts the changes of `messages`.
    pub version: u64,
}

impl SessionRecord {
    /// The record of a new session, whose version is 0, without an owner.
    pub fn new(principal: Option<[u8; 32]>, messages: Vec<RawJson>) -> Self {
        Self { principal, owner: None, messages, version: 0 }
    }
}

/// The records of sessions.
///
/// A record expires when it was not touched for its time to live, by the clock of the store. An expired record behaves as one that
/// was deleted. Ids are random and never used again, so a deleted session cannot come back.
///
/// A session is open at several nodes at once, and none of them owns it.
pub trait SessionRecords: fmt::Debug + Send + Sync + 'static {
    /// Adds a record, durably. The caller sends the session's id to the client afterwards.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] where there is no room, or the owner of the record has its share of it.
    fn create(
        &self,
        session: SessionId,
        record: SessionRecord,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Returns the record of a session. Returns `None` if there is none: the session has ended or never was. A node answers 404 only
    /// then, and never where this fails. The time to live goes on: the sender may not be the client that the session belongs to.
    fn load(&self, session: SessionId) -> BoxFuture<'static, Result<Option<SessionRecord>, StoreError>>;

    /// Begins another time to live. Returns whether there is a record: a node that missed the end of a session learns of it here.
    ///
    /// A node calls this at the first use of a session, whose record has a short time to live until then, and once in a tenth of
    /// the time to live for a session in use.
    fn touch(
        &self,
        session: SessionId,
        time_to_live: Duration,
    ) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Replaces the record where the stored version is that of `record`, and counts the version up, durably. The time to live goes
    /// on. Returns false where the version is another or there is no record: the caller loads it again.
    fn update(
        &self,
        session: SessionId,
        record: SessionRecord,
    ) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Deletes a record, durably. Returns whether there was one.
    fn delete(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Deletes a record where its version is 0, durably: no node has used the session. Returns whether it did.
    fn delete_unused(&self, session: SessionId) -> BoxFuture<'static, Result<bool, StoreError>>;

    /// Takes the next `count` numbers of streams of a session, durably. No other call gets any of them. The first is 1. A store leaves
    /// numbers out where it cannot know which was taken last. Returns `None` if there is no record.
    fn take_streams(
        &self,
        session: SessionId,
        count: u64,
    ) -> BoxFuture<'static, Result<Option<StreamBlock>, StoreError>>;
}
