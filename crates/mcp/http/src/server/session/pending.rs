//! Maps the id of each unanswered request in a session to its response stream.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_jsonrpc::RequestId;

use crate::server::response_stream::ResponseStream;

/// The response stream of each unanswered request. Mostly there is one, which needs no table.
#[derive(Debug, Default)]
pub(crate) struct PendingResponses {
    one: Option<(RequestId, Arc<ResponseStream>)>,
    more: HashMap<RequestId, Arc<ResponseStream>>,
}

impl PendingResponses {
    pub(super) fn len(&self) -> usize {
        usize::from(self.one.is_some()) + self.more.len()
    }

    pub(crate) fn get(&self, id: &RequestId) -> Option<&Arc<ResponseStream>> {
        match &self.one {
            Some((one, stream)) if one == id => Some(stream),
            _ if self.more.is_empty() => None,
            _ => self.more.get(id),
        }
    }

    /// Adds a request that is not there yet.
    pub(super) fn insert(&mut self, id: RequestId, stream: Arc<ResponseStream>) {
        if self.one.is_none() {
            self.one = Some((id, stream));
        } else {
            self.more.insert(id, stream);
        }
    }

    pub(super) fn remove(&mut self, id: &RequestId) -> Option<Arc<ResponseStream>> {
        if let Some((_, stream)) = self.one.take_if(|(one, _)| one == id) {
            return Some(stream);
        }
        if self.more.is_empty() {
            return None;
        }
        let stream = self.more.remove(id);
        if self.more.is_empty() {
            // The memory of many requests is given back after the last.
            self.more = HashMap::new();
        }
        stream
    }

    pub(super) fn streams(&self) -> impl Iterator<Item = &Arc<ResponseStream>> {
        self.one.iter().map(|(_, stream)| stream).chain(self.more.values())
    }

    pub(super) fn into_entries(self) -> impl Iterator<Item = (RequestId, Arc<ResponseStream>)> {
        self.one.into_iter().chain(self.more)
    }

    pub(super) fn into_streams(self) -> impl Iterator<Item = Arc<ResponseStream>> {
        self.one.into_iter().map(|(_, stream)| stream).chain(self.more.into_values())
    }
}
