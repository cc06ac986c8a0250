//! Text that is no message, the answer to it, and the call that it would have answered.

use crate::scan::{skip_space, string_end, value_end};
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
    /// A notification, or a part of a message that is answered elsewhere. It is never answered.
    Notification,
    /// A response to a request of this side. That request fails. The id is null where none could be read.
    Response(RequestId),
}

impl Malformed {
    /// Malformed text that is answered under `id`.
    pub fn request(id: RequestId, error: ErrorObject) -> Self {
        Self { error, intent: Intent::Request(id) }
    }

    /// A malformed response to the request of this side with that id, or null.
    pub fn response(id: RequestId, error: ErrorObject) -> Self {
        Self { error, intent: Intent::Response(id) }
    }

    /// Malformed text that is not answered.
    pub fn notification(error: ErrorObject) -> Self {
        Self { error, intent: Intent::Notification }
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

/// The members that were found in text that cannot be read.
#[derive(Default)]
struct Members {
    /// None if there is none, or none that is an id.
    id: Option<RequestId>,
    has_id: bool,
    /// `id` stands twice, so there is none to answer under.
    is_ambiguous: bool,
    /// `method` or `params`.
    call: bool,
    /// `result` or `error`.
    answer: bool,
}

impl Intent {
    /// The intent of text that is not JSON, or not UTF-8: it fails the call that it would have answered. Anything else is
    /// answered under null, as JSON-RPC demands.
    #[cold]
    pub(crate) fn of_unreadable(bytes: &[u8]) -> Self {
        let response = Self::recover(bytes).filter(|intent| matches!(intent, Self::Response(_)));
        response.unwrap_or(Self::Request(RequestId::NULL))
    }

    /// The kind of the message that the bytes are meant as: JSON that is cut off, is not UTF-8, or holds what JSON does not
    /// have, such as `NaN`. It finds the members of the outermost object by quotes and brackets alone.
    pub(crate) fn recover(bytes: &[u8]) -> Option<Self> {
        let mut members = Members::default();
        // It ends where the text breaks off; what was found before that stays.
        let _end = members.find(bytes);
        let id = members.id.filter(|_| !members.is_ambiguous);
        match (members.call, members.answer) {
            (true, false) => id.map(Self::Request),
            (false, true) => Some(Self::Response(id.unwrap_or(RequestId::NULL))),
            _ => None,
        }
    }
}

impl Members {
    fn find(&mut self, bytes: &[u8]) -> Option<()> {
        let mut at = skip_space(bytes, 0);
        if bytes.get(at) != Some(&b'{') {
            return None;
        }
        loop {
            at = skip_space(bytes, at + 1);
            let name_end = quoted_end(bytes, at)?;
            let name = &bytes[at + 1..name_end - 1];
            let colon = skip_space(bytes, name_end);
            bytes.get(colon).filter(|byte| **byte == b':')?;
            self.call |= matches!(name, b"method" | b"params");
            self.answer |= matches!(name, b"result" | b"error");
            let start = skip_space(bytes, colon + 1);
            let end = if bytes.get(start) == Some(&b'\'') {
                quoted_end(bytes, start)
            } else {
                value_end(bytes, start)
            }?;
            // A number at the end may go on behind it, and would be another one.
            if name == b"id" && end < bytes.len() {
                self.is_ambiguous |= std::mem::replace(&mut self.has_id, true);
                self.id = serde_json::from_slice(&bytes[start..end]).ok();
            }
            at = skip_space(bytes, end);
            bytes.get(at).filter(|byte| **byte == b',')?;
        }
    }
}

/// The end of a string in double quotes, or in the single quotes of a printed Python object.
fn quoted_end(bytes: &[u8], open: usize) -> Option<usize> {
    match bytes.get(open)? {
        b'"' => string_end(bytes, open).map(|end| end.at),
        b'\'' => memchr::memchr(b'\'', &bytes[open + 1..]).map(|length| open + length + 2),
        _ => None,
    }
}
