//! Reads the updates of a session back from the store.

use agentwire_acp_schema::v1::SessionUpdate;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};

use super::{Turn, TurnError};
use crate::store::StoreError;

impl Turn {
    /// Returns all updates of the session so far, oldest first, this turn's prompt included. See [`messages`](Self::messages)
    /// for a form that a model accepts.
    ///
    /// The updates are read from the store. Their memory is that of the whole session.
    ///
    /// # Errors
    ///
    /// [`TurnError::Store`] when it cannot be read.
    pub async fn history(&self) -> Result<Vec<SessionUpdate>, TurnError> {
        Ok(self.stored_updates().await?.try_collect().await?)
    }

    /// Reads the updates so far from the store, oldest first, one by one.
    pub(super) async fn stored_updates(
        &self,
    ) -> Result<BoxStream<'static, Result<SessionUpdate, StoreError>>, TurnError> {
        let id = self.session_id();
        self.0.session.log.flush().await;
        let stored = self.0.settings.store.read(id).await?.ok_or_else(|| StoreError::not_found(id))?;
        // A record that is not an update was reported when the session was opened.
        let read = |record: agentwire_jsonrpc::RawJson| std::future::ready(Ok(record.decode().ok()));
        Ok(stored.records.try_filter_map(read).boxed())
    }
}
