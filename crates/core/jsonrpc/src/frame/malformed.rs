//! Malformed text, with the response to send and the call to fail.

use crate::text::scan::{skip_space, string_end, value_end};
use crate::{ErrorObject, Message, RequestId, Response};

/// Text that is not a JSON-RPC message, and the kind of message that it resembles.
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
    /// A notification, or text that a transport has handled itself, as the HTTP clients do. It is never answered.
    Notification,
    /// A response to a request of this side. That request fails. The id is null if it could not be read.
    Response(RequestId),
    /// A message with an id, but without a method, a result or an error. JavaScript writes a response this way if its
    /// result is undefined. If this side has an open request with that id, that request fails. Otherwise the message is
    /// a request.
    ResponseOrRequest(RequestId),
    /// Text that is not a message but contains responses: several messages on one line, or a response after a prefix.
    /// The requests of this side with these ids fail, unless the right response follows.
    Several {
        /// The ids of the responses, up to 64.
        responses: Vec<RequestId>,
        /// Whether there are requests too. Then it is answered under null.
        has_requests: bool,
    },
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

    pub(crate) fn write_response(&self, out: &mut Vec<u8>) {
        let id = self.intent.response_id().unwrap_or(RequestId::NULL);
        Message::Response(Response::new(id, Err(self.error.clone()))).write(out);
    }

    pub(crate) fn size_hint(&self) -> usize {
        const ENVELOPE: usize = 64;
        ENVELOPE + self.error.size_hint()
    }
}

/// The members that were found in malformed text.
#[derive(Default)]
struct Members {
    /// `None` if the text has no `id`, or its value is not an id.
    id: Option<RequestId>,
    has_id: bool,
    /// `id` is repeated, so the text cannot be answered under an id.
    is_ambiguous: bool,
    /// Whether there is a `method` or `params`.
    has_call: bool,
    /// Whether there is a `result` or `error`.
    has_response: bool,
    /// Whether there is a `result` or `error` other than null, which a request never has.
    has_outcome: bool,
    /// The position up to which the text was read.
    end: usize,
}

/// The most responses that are looked for in text that is not a message.
const RESPONSE_LIMIT: usize = 64;

impl Intent {
    /// The id under which the text is answered, or `None` if it is not answered.
    pub fn response_id(&self) -> Option<RequestId> {
        match self {
            Self::Request(id) | Self::ResponseOrRequest(id) => Some(id.clone()),
            Self::Several { has_requests: true, .. } => Some(RequestId::NULL),
            _ => None,
        }
    }

    /// Whether it may be the response to the request with this id. A response with the id's number as a string (`"7"` for `7`) counts.
    pub(crate) fn answers(&self, id: &RequestId) -> bool {
        match self {
            Self::Response(response) | Self::ResponseOrRequest(response) => response.answers(id),
            Self::Several { responses, .. } => responses.iter().any(|response| response.answers(id)),
            _ => false,
        }
    }

    /// The intent of text that is not JSON, not UTF-8, or not an object. Responses in it fail their calls. Other text is
    /// answered under null, as JSON-RPC demands.
    #[cold]
    pub(crate) fn of_unreadable(bytes: &[u8]) -> Self {
        let first = Self::recover(bytes).filter(|intent| matches!(intent, Self::Response(_)));
        let (responses, has_requests) = responses_within(bytes);
        let is_first_alone = match (&first, &responses[..]) {
            (_, []) => true,
            (Some(Self::Response(id)), [only]) => id == only && !has_requests,
            _ => false,
        };
        if is_first_alone {
            first.unwrap_or(Self::Request(RequestId::NULL))
        } else {
            Self::Several { responses, has_requests }
        }
    }

    /// Returns the likely kind of a message that is cut off, is not UTF-8, or contains non-JSON such as `NaN`. It finds
    /// the members of the outermost object by quotes and brackets alone.
    pub(crate) fn recover(bytes: &[u8]) -> Option<Self> {
        let mut members = Members::default();
        let open = skip_space(bytes, 0);
        if bytes.get(open) == Some(&b'{') {
            // It ends where the text breaks off. The members that were found before stay.
            let _end = members.find(bytes, open);
        }
        members.intent()
    }
}

/// The ids of the responses in text that is not a message, up to [`RESPONSE_LIMIT`], and whether there are requests. Every
/// byte is read once: after an object, or the part of one that can be read, the search goes on behind it.
fn responses_within(bytes: &[u8]) -> (Vec<RequestId>, bool) {
    let (mut responses, mut has_requests, mut at) = (Vec::new(), false, 0);
    while responses.len() < RESPONSE_LIMIT
        && let Some(more) = memchr::memchr(b'{', &bytes[at..])
    {
        let mut members = Members::default();
        let _end = members.find(bytes, at + more);
        at = members.end;
        match members.intent() {
            Some(Intent::Response(id)) if !id.is_null() => responses.push(id),
            Some(Intent::Request(_)) => has_requests = true,
            _ => {}
        }
    }
    (responses, has_requests)
}

impl Members {
    fn intent(self) -> Option<Intent> {
        let id = self.id.filter(|_| !self.is_ambiguous);
        match (self.has_call, self.has_response) {
            (true, false) => id.map(Intent::Request),
            (false, true) => Some(Intent::Response(id.unwrap_or(RequestId::NULL))),
            // A response with the method of its request.
            (true, true) if self.has_outcome => id.map(Intent::Response),
            _ => None,
        }
    }

    /// Finds the members of the object that begins at `open`.
    fn find(&mut self, bytes: &[u8], open: usize) -> Option<()> {
        let mut at = open;
        self.end = open + 1;
        loop {
            at = skip_space(bytes, at + 1);
            let name_end = quoted_end(bytes, at)?;
            self.end = name_end;
            let name = &bytes[at + 1..name_end - 1];
            let colon = skip_space(bytes, name_end);
            bytes.get(colon).filter(|byte| **byte == b':')?;
            self.has_call |= matches!(name, b"method" | b"params");
            let start = skip_space(bytes, colon + 1);
            if matches!(name, b"result" | b"error") {
                self.has_response = true;
                self.has_outcome |= start < bytes.len() && !bytes[start..].starts_with(b"n");
            }
            // A value without an end takes up the rest.
            self.end = bytes.len();
            let end = if bytes.get(start) == Some(&b'\'') {
                quoted_end(bytes, start)
            } else {
                value_end(bytes, start)
            }?;
            self.end = end;
            // A number at the end of the text may be cut off, and so be another number.
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
