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
        let read = |record: agentwire_jsonrpc::RawJson| {
            let update = record.decode();
            std::future::ready(update.map_err(|why| StoreError::corrupt(id, "a record", why.to_string())))
        };
        Ok(stored.records.and_then(read).try_collect().await?)
    }
}
