//! The streams that a client opens or resumes with GET.

use std::sync::Arc;

use agentwire_mcp_wire::Revision;
use agentwire_store::EventId;

use crate::server::endpoint::resources::Resources;
use crate::server::response_stream::{ResponseStream, ResumedStream, StreamReader};
use crate::server::session::{DeliverError, Session};

/// How many GET streams whose client has left are kept, so that it can resume them.
const LEFT_STREAMS: usize = 4;

impl Session {
    /// Opens the stream of a GET. Fails if the session has ended, has too many such streams, or has no stream number left.
    pub(crate) fn listen(&self, resources: &Arc<Resources>) -> Result<StreamReader, DeliverError> {
        let mut state = self.lock();
        if state.closed {
            return Err(DeliverError::Gone);
        }
        state.last_request = resources.now();
        let attached = state.listeners.iter().filter(|listener| listener.is_attached()).count();
        if attached >= resources.config.stream_limit {
            return Err(DeliverError::TooMany(resources.config.stream_limit));
        }
        if state.listeners.len() - attached >= LEFT_STREAMS
            && let Some(oldest) = state.listeners.iter().position(|listener| !listener.is_attached())
        {
            state.listeners.remove(oldest);
        }
        let number = self.peers.next_number(&mut state.streams).ok_or(DeliverError::Away)?;
        let primes = state.revision.is_some_and(Revision::has_priming_events);
        let stream = Arc::new(ResponseStream::for_get(number, self.id, self.caller.clone(), primes));
        let reader = StreamReader::attach(&stream, resources);
        state.listeners.push(stream.clone());
        state.flush(&stream, resources);
        drop(state);
        self.claim_delivery(resources);
        Ok(reader)
    }

    /// Goes on with a stream after an event. `None` if the stream does not run here.
    pub(crate) fn resume(
        &self,
        after: EventId,
        resources: &Arc<Resources>,
    ) -> Result<Option<ResumedStream>, DeliverError> {
        let mut state = self.lock();
        if state.closed {
            return Err(DeliverError::Gone);
        }
        state.last_request = resources.now();
        let of_number = |stream: &&Arc<ResponseStream>| stream.number() == after.stream;
        let listener = state.listeners.iter().find(of_number).cloned();
        let found = listener.clone().or_else(|| state.routes.streams().find(of_number).cloned());
        let resumed = match found {
            Some(stream) => {
                let resumed = StreamReader::resume(&stream, after.place, resources);
                Some(resumed.ok_or(DeliverError::NoEvent)?)
            }
            None => None,
        };
        if let Some(listener) = listener.filter(|_| resumed.is_some()) {
            state.flush(&listener, resources);
            drop(state);
            self.claim_delivery(resources);
        }
        Ok(resumed)
    }
}
