use agentwire_acp_schema::v1::SessionUpdate;
use futures::TryStreamExt;

use super::{Turn, TurnError};
use crate::store::StoreError;

impl Turn {
    /// All that was said in the session so far, oldest first, this turn's prompt included: what a model is to be fed.
    ///
    /// It is read from the store, so it is as long as the session.
    ///
    /// # Errors
    ///
    /// [`TurnError::Store`] when it cannot be read.
    pub async fn history(&self) -> Result<Vec<SessionUpdate>, TurnError> {
        let id = self.session_id();
        self.0.session.outbox.flush().await;
        let stored = self.0.settings.store.read(id).await?.ok_or_else(|| StoreError::not_found(id))?;
        // What is no update was told of when the session was opened.
        let read = |record: agentwire_jsonrpc::RawJson| std::future::ready(Ok(record.decode().ok()));
        Ok(stored.records.try_filter_map(read).try_collect().await?)
    }
}
