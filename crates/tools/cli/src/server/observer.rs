//! Observes the server's requests and notifications, for the log and for the open calls.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Notification};
use agentwire_peer::observe::{CallEnd, CallObserver, CallStart, Direction, Observer};

use super::log::RequestLog;
use super::open_calls::{OpenCall, OpenCalls};

/// The method whose requests count as open calls.
const CALL: &str = "tools/call";

/// Observes the messages of clients.
pub(super) struct RequestObserver {
    pub(super) log: RequestLog,
    pub(super) calls: OpenCalls,
}

impl Observer for RequestObserver {
    fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
        if call.direction == Direction::Out {
            return None;
        }
        let open = (call.method == CALL).then(|| self.calls.begin());
        Some(Arc::new(ObservedRequest { log: self.log.clone(), _open: open }))
    }

    fn notification(&self, direction: Direction, notification: &Notification) {
        if direction == Direction::In {
            self.log.notification(notification);
        }
    }

    fn malformed(&self, error: &ErrorObject) {
        self.log.malformed(error);
    }
}

/// A request until it is answered.
struct ObservedRequest {
    log: RequestLog,
    _open: Option<OpenCall>,
}

impl CallObserver for ObservedRequest {
    fn ended(&self, end: &CallEnd<'_>) {
        self.log.request(end.method, &end.outcome, end.duration);
    }
}
