//! Text that is no message, and the answer to it.

use crate::{ErrorObject, Message, RequestId, Response};

/// Text that is no JSON-RPC message, and the kind of message that it resembles.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Malformed {
    /// The fault, as the sender receives it.
    pub error: ErrorObject,
    /// The kind of message that it resembles, which decides whether it is answered.
    pub intent: Intent,
}

/// The kind of message that malformed text resembles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Intent {
    /// A request, or nothing recognisable. It is answered with the error, under its id if one could be read and under null
    /// otherwise.
    Request(RequestId),
    /// A notification, which is never answered.
    Notification,
    /// A response to a request of this side. That request fails if the id could be read.
    Response(RequestId),
}

impl Malformed {
    /// Malformed text that is answered under `id`.
    pub fn request(id: RequestId, error: ErrorObject) -> Self {
        Self { error, intent: Intent::Request(id) }
    }

    pub(crate) fn write_answer(&self, out: &mut Vec<u8>) {
        let id = match &self.intent {
            Intent::Request(id) => id.clone(),
            Intent::Notification | Intent::Response(_) => RequestId::NULL,
        };
        Message::Response(Response::new(id, Err(self.error.clone()))).write(out);
    }

    pub(crate) fn size_hint(&self) -> usize {
        const ENVELOPE: usize = 64;
        ENVELOPE + self.error.size_hint()
    }
}
