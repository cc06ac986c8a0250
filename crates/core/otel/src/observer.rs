//! The observer of a kind of connection, and that of a single connection.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_jsonrpc::ErrorObject;
use agentwire_peer::observe::{
    CallContext, CallObserver, CallStart, ConnectionEnd, Direction, NewCall, Observer,
};
use opentelemetry::KeyValue;

use crate::attributes::network::Network;
use crate::call::{incoming, outgoing};
use crate::connection::ConnectionKind;

/// Observes the connections of a client or server of one protocol, and a server's requests without a connection.
///
/// The configuration of a client or server takes it, in an `Arc`. To set a second observer, join both with
/// [`Observers`](agentwire_peer::observe::Observers).
#[derive(Clone)]
pub struct ProtocolObserver {
    kind: ConnectionKind,
}

impl ProtocolObserver {
    pub(crate) fn new(kind: ConnectionKind) -> Self {
        Self { kind }
    }

    /// Sets the network attributes of the connections (default: none).
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.kind.network = network;
        self
    }

    /// Sets whether a request continues the trace of its caller (default: yes).
    ///
    /// With `false`, for unknown callers, the span of a request only links to the span in `_meta` or in the HTTP headers. So a caller
    /// can neither decide which requests are sampled, nor add spans to a trace of the program. The baggage of the request is dropped.
    /// The span that is current when the request arrives stays the parent.
    #[must_use]
    pub fn trust_callers(mut self, trusts: bool) -> Self {
        self.kind.trusts_callers = trusts;
        self
    }
}

impl fmt::Debug for ProtocolObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConnectionKind { protocol, role, network, trusts_callers, .. } = &self.kind;
        f.debug_struct("ProtocolObserver")
            .field("protocol", protocol)
            .field("role", role)
            .field("network", network)
            .field("trusts_callers", trusts_callers)
            .finish_non_exhaustive()
    }
}

impl Observer for ProtocolObserver {
    fn connection_started(&self) -> Option<Arc<dyn Observer>> {
        self.kind.inner.instruments.active_connections.add(1, &self.kind.role());
        Some(Arc::new(ConnectionObserver { requests: self.clone(), queued: AtomicUsize::new(0) }))
    }

    fn call_made(&self, call: &NewCall<'_>) -> Option<CallContext> {
        Some(outgoing::make(&self.kind, call))
    }

    fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
        Some(Arc::new(match call.direction {
            Direction::In => incoming::begin(&self.kind, call),
            Direction::Out => outgoing::begin(&self.kind, call),
        }))
    }

    fn frame(&self, direction: Direction, bytes: usize) {
        self.kind.inner.instruments.io.add(bytes as u64, &self.kind.direction(direction));
    }

    fn malformed(&self, _error: &ErrorObject) {
        self.kind.inner.instruments.malformed.add(1, &[self.kind.protocol_attribute()]);
    }
}

/// The observer of one connection.
struct ConnectionObserver {
    requests: ProtocolObserver,
    /// The size of the send queue as it was last reported.
    queued: AtomicUsize,
}

impl Observer for ConnectionObserver {
    fn connection_ended(&self, end: &ConnectionEnd<'_>) {
        let kind = &self.requests.kind;
        self.queue(0);
        kind.inner.instruments.active_connections.add(-1, &kind.role());
        let mut attributes = kind.network.attributes().to_vec();
        if let Some(revision) = end.revision.and_then(|revision| kind.protocol.revision(revision)) {
            attributes.push(KeyValue::new(kind.protocol.revision_attribute(), revision));
        }
        if end.error.is_some() {
            attributes.push(KeyValue::new("error.type", "transport"));
        }
        let durations = kind.inner.instruments.connection(kind.protocol, kind.role);
        durations.record(end.duration.as_secs_f64(), &attributes);
    }

    fn call_made(&self, call: &NewCall<'_>) -> Option<CallContext> {
        self.requests.call_made(call)
    }

    fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
        self.requests.call_started(call)
    }

    fn frame(&self, direction: Direction, bytes: usize) {
        self.requests.frame(direction, bytes);
    }

    fn queue(&self, bytes: usize) {
        let before = self.queued.swap(bytes, Ordering::Relaxed);
        let change = bytes as i64 - before as i64;
        let kind = &self.requests.kind;
        kind.inner.instruments.send_queue.add(change, &[kind.protocol_attribute()]);
    }

    fn malformed(&self, error: &ErrorObject) {
        self.requests.malformed(error);
    }
}
