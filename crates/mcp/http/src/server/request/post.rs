//! Where the body of a POST belongs: to a session, to a new one, or to an exchange of its own.

use std::borrow::Cow;
use std::collections::HashSet;

use agentwire_jsonrpc::{ErrorObject, Frame, Malformed, Message, RawJson, Request, RequestId};
use agentwire_mcp_wire::header::decode_value;
use agentwire_mcp_wire::{ParamsMembers, Revision, Routing, initialize_version, method};
use agentwire_store::SessionId;
use bytes::Bytes;
use bytestring::ByteString;
use http::HeaderName;
use memchr::memchr2_iter;

use crate::header;
use crate::server::admission::operation::{Call, call_of};
use crate::server::request::fields::{Field, Fields, single};
use crate::server::response::refusal::Refusal;
use crate::server::session::deliver::request_ids;
use crate::server::{EndpointConfig, Head};

/// The content of a POST, by its target.
pub(crate) enum PostTarget {
    /// A frame for a session that should exist.
    Session(SessionId, Frame),
    /// The request that opens a session.
    Initialize(Request),
    /// A modern message, for an exchange of its own.
    Exchange(Message),
}

impl PostTarget {
    /// The id of a request among the content.
    pub(crate) fn request(&self) -> Option<RequestId> {
        let frame = match self {
            Self::Initialize(request) | Self::Exchange(Message::Request(request)) => {
                return Some(request.id.clone());
            }
            Self::Exchange(_) => return None,
            Self::Session(_, frame) => frame,
        };
        match frame {
            Frame::Single(Message::Request(request)) => Some(request.id.clone()),
            Frame::Batch(messages) => request_ids(messages).first().map(|_| RequestId::NULL),
            _ => None,
        }
    }
}

impl PostTarget {
    /// The requests and notifications among the content.
    pub(crate) fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        let (one, several) = match self {
            Self::Initialize(request) => (Some((&*request.method, request.params.as_ref())), None),
            Self::Exchange(message) | Self::Session(_, Frame::Single(message)) => (call_of(message), None),
            Self::Session(_, Frame::Batch(messages)) => (None, Some(messages)),
            Self::Session(..) => (None, None),
        };
        one.into_iter().chain(several.into_iter().flatten().flatten().filter_map(call_of))
    }
}

/// The headers of a POST that concern its body.
#[derive(Clone, Copy)]
pub(crate) struct PostHeaders {
    version: Version,
    session: SessionHeader,
}

#[derive(Clone, Copy)]
enum Version {
    Absent,
    Known(Revision),
    /// Another.
    Unknown,
}

#[derive(Clone, Copy)]
enum SessionHeader {
    Absent,
    Session(SessionId),
    /// Text that is not a session's id.
    Invalid,
}

impl PostHeaders {
    /// Reads the headers. Fails if one of them occurs more than once.
    pub(crate) fn of(fields: &Fields<'_>, config: &EndpointConfig) -> Result<Self, Refusal> {
        let version = match fields.single(Field::ProtocolVersion)? {
            None => Version::Absent,
            Some(version) => {
                let known = std::str::from_utf8(version).ok().and_then(Revision::parse);
                known.map_or(Version::Unknown, Version::Known)
            }
        };
        let session = match fields.single(Field::SessionId)? {
            None => SessionHeader::Absent,
            Some(id) => config.session_id(id).map_or(SessionHeader::Invalid, SessionHeader::Session),
        };
        Ok(Self { version, session })
    }

    /// The session that the request names.
    pub(crate) fn session(self) -> Option<SessionId> {
        match self.session {
            SessionHeader::Session(session) => Some(session),
            SessionHeader::Absent | SessionHeader::Invalid => None,
        }
    }
}

/// Reads a body, and finds where it belongs.
pub(crate) fn routed(
    config: &EndpointConfig,
    claims: PostHeaders,
    head: &Head,
    body: Bytes,
) -> Result<PostTarget, Refusal> {
    let frame = read_frame(body, config.batch_limit)?;
    match claims.version {
        Version::Known(revision) if revision.is_modern() && config.era.includes(revision) => {
            return exchange(head, frame, revision.as_str());
        }
        Version::Known(revision) if config.era.includes(revision) => {}
        Version::Absent if config.era.includes(Revision::LATEST_LEGACY) => {}
        Version::Known(revision) => {
            return Err(Refusal::unsupported_version(config, id_of(&frame), revision.as_str()));
        }
        Version::Unknown => {
            let version = single(head.headers(), &header::PROTOCOL_VERSION)?.unwrap_or_default();
            let version = String::from_utf8_lossy(version);
            // The service may know a revision that the transport does not. The body names it too, so it has no sessions.
            if config.era.includes(Revision::LATEST)
                && named_version(&frame, head).is_some_and(|named| named == version)
            {
                return exchange(head, frame, &version);
            }
            return Err(Refusal::unsupported_version(config, id_of(&frame), &version));
        }
        Version::Absent => {
            let id = id_of(&frame);
            if let Frame::Single(Message::Request(request)) = &frame
                && request.method == method::INITIALIZE
            {
                let offered = request.params.as_ref().and_then(initialize_version).unwrap_or_default();
                return Err(Refusal::unsupported_version(config, id, &offered));
            }
            return Err(Refusal::header_mismatch(id, "the MCP-Protocol-Version header is missing"));
        }
    }
    let session = match claims.session {
        SessionHeader::Absent => return initialize(frame),
        SessionHeader::Invalid => return Err(Refusal::unknown_session()),
        SessionHeader::Session(session) => session,
    };
    if is_modern(&frame) {
        let why = "the MCP-Protocol-Version header is not the version in _meta, which has no sessions";
        return Err(Refusal::header_mismatch(id_of(&frame), why));
    }
    Ok(PostTarget::Session(session, frame))
}

/// Whether a message names a revision without sessions.
fn is_modern(frame: &Frame) -> bool {
    let Frame::Single(message) = frame else {
        return false;
    };
    let text = message.body().map_or("", RawJson::as_str).as_bytes();
    // In a session hardly any message names a version, and this search costs less than to read the members.
    let names_version = |at| text[at] == b'\\' || text[at..].starts_with(b"/protocolVersion");
    if !memchr2_iter(b'/', b'\\', text).any(names_version) {
        return false;
    }
    let Some(routing) = ParamsMembers::of(message).routing(message) else { return false };
    routing.protocol_version.is_some() && routing.revision().is_none_or(Revision::is_modern)
}

/// Reads the body of a POST as a frame. For other endpoints beside an [`Endpoint`](crate::server::Endpoint).
///
/// # Errors
///
/// 400 for a body that is not a message, for a batch of more than `batch_limit` messages, and for a request with the id null:
/// no layer above could answer it better.
pub fn read_frame(body: Bytes, batch_limit: usize) -> Result<Frame, Refusal> {
    let text = ByteString::try_from(body).map_err(|error| {
        Refusal::error(RequestId::NULL, ErrorObject::parse_error(format_args!("not UTF-8: {error}")))
    })?;
    match Frame::parse_with(text, batch_limit) {
        Frame::Malformed(malformed) => Err(Refusal::malformed(malformed)),
        Frame::Single(Message::Request(Request { id, .. })) if id.is_null() => {
            let error = ErrorObject::invalid_request("the id of a request is a string or an integer");
            Err(Refusal::error(RequestId::NULL, error))
        }
        frame => Ok(frame),
    }
}

/// A message without a session and a modern revision can only open a session.
fn initialize(frame: Frame) -> Result<PostTarget, Refusal> {
    let id = id_of(&frame);
    let Frame::Single(message) = frame else {
        return Err(Refusal::no_session());
    };
    let routing = ParamsMembers::of(&message).routing(&message);
    let is_modern = routing.is_some_and(|routing| routing.protocol_version.is_some());
    match message {
        _ if is_modern => {
            let why = "the MCP-Protocol-Version header is missing, or is not the version in _meta";
            Err(Refusal::header_mismatch(id, why))
        }
        Message::Request(request) if request.method == method::INITIALIZE => {
            Ok(PostTarget::Initialize(copied(request)))
        }
        _ => Err(Refusal::no_session().under(id)),
    }
}

/// The request that opens a session may be kept as long as the session, so it must not be a slice of a larger buffer.
fn copied(request: Request) -> Request {
    let copy = |params: RawJson| RawJson::parse(params.as_str().into()).unwrap_or(params);
    Request::new(request.id, method::INITIALIZE, request.params.map(copy))
}

/// Checks that a message may come without a session, and that its headers repeat the members that route it. The head
/// keeps the positions of the params' members.
fn exchange(head: &Head, frame: Frame, version: &str) -> Result<PostTarget, Refusal> {
    let id = id_of(&frame);
    let message = match frame {
        Frame::Single(message @ (Message::Request(_) | Message::Notification(_))) => message,
        _ => {
            let error = ErrorObject::invalid_request("the body must be one request or one notification");
            return Err(Refusal::error(id, error));
        }
    };
    if let Err(why) = agree(head, &message, version) {
        return Err(Refusal::header_mismatch(id, why));
    }
    Ok(PostTarget::Exchange(message))
}

fn agree(head: &Head, message: &Message, version: &str) -> Result<(), &'static str> {
    let Some(Routing { protocol_version, method, name, .. }) = head.params_index(message).routing(message)
    else {
        return Ok(());
    };
    if protocol_version.is_some_and(|named| *named != *version) {
        return Err("the MCP-Protocol-Version header is not the version in _meta");
    }
    let one = |name: HeaderName| {
        single(head.headers(), &name).map_err(|_| "a metadata header of the request occurs more than once")
    };
    match one(header::METHOD)? {
        Some(value) if value == method.as_bytes() => {}
        // The specification requires the header on requests only.
        None if matches!(message, Message::Notification(_)) => {}
        Some(_) => return Err("the Mcp-Method header is not the method in the body"),
        None => return Err("the Mcp-Method header is missing"),
    }
    if method::named_by(method).is_none() {
        return Ok(());
    }
    let Some(value) = one(header::NAME)? else {
        return if name.is_none() { Ok(()) } else { Err("the Mcp-Name header is missing") };
    };
    let value = decode_value(value).ok_or("the Mcp-Name header is not encoded as it must be")?;
    if name.is_some_and(|name| *name == *value) {
        return Ok(());
    }
    Err("the Mcp-Name header is not the name in the body")
}

/// The version that a message names in its `_meta`.
fn named_version<'a>(frame: &'a Frame, head: &Head) -> Option<Cow<'a, str>> {
    let Frame::Single(message) = frame else { return None };
    head.params_index(message).routing(message)?.protocol_version
}

/// The id under which a refusal is sent.
fn id_of(frame: &Frame) -> RequestId {
    match frame {
        Frame::Single(Message::Request(request)) => request.id.clone(),
        _ => RequestId::NULL,
    }
}

/// Refuses batches that a session does not take: all except in the one revision that has batches. There it refuses batches with
/// `initialize`, with two requests of the same id, and with malformed messages but no request.
pub(crate) fn check_batch(frame: &Frame, revision: impl FnOnce() -> Option<Revision>) -> Result<(), Refusal> {
    let Frame::Batch(messages) = frame else {
        return Ok(());
    };
    let refuse = |why| Err(Refusal::error(RequestId::NULL, ErrorObject::invalid_request(why)));
    if !revision().is_some_and(Revision::has_batches) {
        return refuse("an array of messages is not allowed in this protocol version");
    }
    let initializes = |message: &Result<Message, Malformed>| matches!(message, Ok(Message::Request(r)) if r.method == method::INITIALIZE);
    if messages.iter().any(initializes) {
        return refuse("initialize cannot be part of a batch");
    }
    let ids = request_ids(messages);
    // Without a request there is no answer that could name the malformed message.
    if ids.is_empty()
        && let Some(malformed) = messages.iter().find_map(|message| message.as_ref().err())
    {
        return Err(Refusal::malformed(malformed.clone()));
    }
    let mut seen = HashSet::with_capacity(ids.len());
    match ids.iter().find(|id| !seen.insert(*id)) {
        Some(twice) => Err(Refusal::in_flight(twice.clone())),
        None => Ok(()),
    }
}
