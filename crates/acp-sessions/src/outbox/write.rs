//! What is done with what was said: it is written, and then it is sent.

use std::sync::Arc;

use agentwire_acp_agent::{CallError, Client, Closed};
use agentwire_acp_schema::v1::{SessionId, SessionNotification, SessionUpdate};
use agentwire_jsonrpc::RawJson;

use crate::store::{SessionHeader, SessionStore, StoreError};
use crate::turn::TurnError;

/// Something to write and then to send.
#[derive(Default)]
pub(super) struct Entry {
    pub(super) records: Vec<RawJson>,
    pub(super) aloud: Vec<(Client, SessionUpdate)>,
    pub(super) header: Option<SessionHeader>,
    pub(super) sync: bool,
}

/// Why entries fail.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    Store(Arc<StoreError>),
    Closed(Closed),
}

impl From<Failure> for TurnError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => Self::Store(error),
            Failure::Closed(closed) => Self::Call(closed.into()),
        }
    }
}

/// Writes entries, then sends them.
pub(super) async fn write(
    store: Arc<dyn SessionStore>,
    session_id: SessionId,
    entries: Vec<Entry>,
) -> Result<(), Failure> {
    let mut records = Vec::with_capacity(entries.len());
    let mut aloud = Vec::with_capacity(entries.len());
    let (mut header, mut sync) = (None, false);
    for entry in entries {
        records.extend(entry.records);
        aloud.extend(entry.aloud);
        header = entry.header.or(header);
        sync |= entry.sync;
    }
    if !records.is_empty() {
        store.append(&session_id, &records).await?;
    }
    if let Some(header) = header {
        store.update_header(&header).await?;
    }
    let sent = send(&session_id, aloud).await;
    if sync {
        store.sync(&session_id).await?;
    }
    sent
}

async fn send(session_id: &SessionId, aloud: Vec<(Client, SessionUpdate)>) -> Result<(), Failure> {
    for (client, update) in aloud {
        // Whether the client takes it was looked at before, and that it can be written has been seen: nothing else fails.
        let sent = client.session_update(SessionNotification::new(session_id, update)).await;
        if let Err(CallError::Closed(closed)) = sent {
            return Err(Failure::Closed(closed));
        }
    }
    Ok(())
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}
