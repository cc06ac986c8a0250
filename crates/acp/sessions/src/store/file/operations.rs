//! The operations of a [`FileStore`]. Those that may wait for the disk run on threads for blocking work.

use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_jsonrpc::RawJson;
use futures_util::future::BoxFuture;

use super::blocking::{blocking, records};
use super::{FileStore, Fsync};
use crate::store::{Claim, ListQuery, SessionHeader, SessionStore, StoreError, StoreWarning, StoredSession};

/// The most bytes that are appended on the thread that polls.
const INLINE_LIMIT: usize = 64 << 10;

impl SessionStore for FileStore {
    fn create<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (handle, mut files) = self.lock(&header.session_id).await?;
            let (shared, header, durable) =
                (Arc::clone(&self.shared), header.clone(), self.fsync != Fsync::Never);
            blocking(move || {
                files.create(&header, durable, &shared.warnings)?;
                handle.keep();
                Ok(())
            })
            .await
        })
    }

    fn append<'a>(
        &'a self,
        session_id: &'a SessionId,
        records: &'a [RawJson],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (handle, mut files) = self.find(session_id).await?;
            let durable = self.fsync == Fsync::Always;
            let bytes: usize = records.iter().map(RawJson::len).sum();
            if !durable
                && bytes <= INLINE_LIMIT
                && let Some(session) = files.known()
            {
                return session.append(records, durable, &self.shared.warnings);
            }
            let (shared, records) = (Arc::clone(&self.shared), records.to_vec());
            blocking(move || {
                let session = files.find(&shared.warnings)?;
                handle.keep();
                session.append(&records, durable, &shared.warnings)
            })
            .await
        })
    }

    fn sync<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let durable = self.fsync != Fsync::Never;
            let Some(handle) = self.shared.locks.get(session_id) else {
                // This store has written nothing of the session.
                let (shared, session_id) = (Arc::clone(&self.shared), session_id.clone());
                return blocking(move || match shared.exists(&session_id)? {
                    true => Ok(()),
                    false => Err(StoreError::not_found(&session_id)),
                })
                .await;
            };
            let mut files = Arc::clone(&handle.files).lock_owned().await;
            if let Some(session) = files.known()
                && !(durable && session.is_unsynced())
            {
                return session.sync(false, &self.shared.warnings);
            }
            let shared = Arc::clone(&self.shared);
            blocking(move || {
                let _handle = handle;
                files.find(&shared.warnings)?.sync(durable, &shared.warnings)
            })
            .await
        })
    }

    fn read<'a>(
        &'a self,
        session_id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let (shared, session_id) = (Arc::clone(&self.shared), session_id.clone());
            let Some(handle) = self.shared.locks.get(&session_id) else {
                return blocking(move || shared.read(&session_id)).await;
            };
            let mut files = Arc::clone(&handle.files).lock_owned().await;
            blocking(move || {
                let _handle = handle;
                let Some(session) = files.load(&shared.warnings)? else { return Ok(None) };
                let reader = session.reader(&shared.warnings)?;
                Ok(Some(StoredSession::new(session.header.clone(), records(reader))))
            })
            .await
        })
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, Result<Vec<SessionHeader>, StoreError>> {
        Box::pin(async move {
            let shared = Arc::clone(&self.shared);
            let headers = blocking(move || shared.headers()).await?;
            Ok(query.select(headers.iter().map(|header| &**header)))
        })
    }

    fn update_header<'a>(&'a self, header: &'a SessionHeader) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let (handle, mut files) = self.find(&header.session_id).await?;
            let (shared, header, fsync) = (Arc::clone(&self.shared), header.clone(), self.fsync);
            blocking(move || {
                let session = files.find(&shared.warnings)?;
                handle.keep();
                session.update_header(header, fsync)
            })
            .await
        })
    }

    fn delete<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let (handle, mut files) = match self.lock(session_id).await {
                Err(StoreError::Id { .. }) => return Ok(false),
                locked => locked?,
            };
            let (shared, durable) = (Arc::clone(&self.shared), self.fsync != Fsync::Never);
            blocking(move || {
                let deleted = files.delete(durable, &shared.warnings);
                handle.release();
                deleted
            })
            .await
        })
    }

    fn claim<'a>(&'a self, session_id: &'a SessionId) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move {
            let (shared, session_id) = (Arc::clone(&self.shared), session_id.clone());
            blocking(move || match shared.locks.claim(&session_id) {
                // No session can have such an id.
                Err(StoreError::Id { .. }) => Ok(Claim::default()),
                claimed => claimed,
            })
            .await
        })
    }

    fn take_warnings(&self) -> Vec<StoreWarning> {
        std::mem::take(&mut *self.shared.warnings.lock())
    }
}
