//! The parts of a POST and of a GET that belong to a session.

use std::sync::Arc;

use agentwire_jsonrpc::{Frame, RequestId};
use agentwire_store::EventId;

use crate::server::Head;
use crate::server::admission::quota::Reservation;

/// A frame for a session.
pub(crate) struct Post {
    pub(crate) id: RequestId,
    pub(crate) frame: Frame,
    pub(crate) reservation: Reservation,
    pub(crate) head: Arc<Head>,
}

/// A GET, which opens or resumes a stream.
pub(crate) struct Get {
    /// The event after which a stream is resumed. `None` opens a new stream.
    pub(crate) after: Option<EventId>,
    pub(crate) reservation: Reservation,
}
