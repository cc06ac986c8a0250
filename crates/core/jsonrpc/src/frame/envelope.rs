//! Reads the envelope of a message: the members that JSON-RPC defines, with their values as slices of the text.

use std::fmt;

use bytestring::ByteString;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::frame::malformed::{Intent, Malformed};
use crate::reader::{self, Reserved};
use crate::{ErrorObject, Message, Notification, RawJson, Request, RequestId, Response};

/// The members of a message that JSON-RPC defines, undecoded. Others are ignored.
#[derive(Default)]
pub(crate) struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    /// A repeated member. Two readers could disagree on which one counts, so the message is malformed.
    repeated: Option<&'static str>,
    /// Whether the repeated member is the id, so that the message cannot be answered under it.
    ambiguous_id: bool,
}

/// Fills an [`Envelope`].
pub(crate) struct EnvelopeSeed<'s, 'a>(pub(crate) &'s mut Envelope<'a>);

impl<'de> DeserializeSeed<'de> for EnvelopeSeed<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EnvelopeSeed<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(member) = members.next_key_seed(MemberSeed)? {
            let (slot, name) = match member {
                Member::Jsonrpc => (&mut self.0.jsonrpc, "jsonrpc"),
                Member::Id => (&mut self.0.id, "id"),
                Member::Method => (&mut self.0.method, "method"),
                Member::Params => (&mut self.0.params, "params"),
                Member::Result => (&mut self.0.result, "result"),
                Member::Error => (&mut self.0.error, "error"),
                Member::Other => {
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(members.next_value()?).is_some() {
                self.0.repeated = Some(name);
                self.0.ambiguous_id |= name == "id";
            }
        }
        Ok(())
    }
}

enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

struct MemberSeed;

impl<'de> DeserializeSeed<'de> for MemberSeed {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Member, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for MemberSeed {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    /// The names are case-sensitive: `Method` is an unknown member.
    fn visit_str<E>(self, name: &str) -> Result<Member, E> {
        Ok(match name {
            "jsonrpc" => Member::Jsonrpc,
            "id" => Member::Id,
            "method" => Member::Method,
            "params" => Member::Params,
            "result" => Member::Result,
            "error" => Member::Error,
            _ => Member::Other,
        })
    }
}

impl Envelope<'_> {
    /// The id. `None` if it is missing, repeated or not a valid id.
    pub(crate) fn id(&self) -> Option<RequestId> {
        self.id.filter(|_| !self.ambiguous_id).and_then(|id| RequestId::from_json(id.get()))
    }

    /// Makes a message of the members, which must lie within `frame`. `text` is all of the message.
    pub(crate) fn into_message(self, frame: &ByteString, text: &str) -> Result<Message, Malformed> {
        if reader::has_reserved_name(text) {
            return Err(self.malformed(Reserved));
        }
        if let Some(name) = self.repeated {
            return Err(self.malformed(format_args!("the member {name:?} is repeated")));
        }
        if !self.jsonrpc.is_some_and(is_version_two) {
            return Err(self.malformed("the member \"jsonrpc\" must be \"2.0\""));
        }
        if self.method.is_some() { self.into_call(frame) } else { self.into_response(frame) }
    }

    fn into_call(self, frame: &ByteString) -> Result<Message, Malformed> {
        if self.is_echo() {
            return Err(self.malformed("an answer has no member \"method\""));
        }
        let Some(method) = self.method.and_then(|method| text_within(frame, method)) else {
            return self.without_method(frame);
        };
        let params = match self.params {
            Some(params) if matches!(params.get().as_bytes()[0], b'{' | b'[') => {
                Some(RawJson::slice(frame, params))
            }
            None => None,
            Some(params) if params.get() == "null" => None,
            Some(_) => return Err(self.malformed("the member \"params\" must be an object or an array")),
        };
        if self.id.is_none() {
            return Ok(Notification { method, params }.into());
        }
        match self.id() {
            Some(id) => Ok(Request { id, method, params }.into()),
            None => Err(self
                .malformed("the member \"id\" must be an integer, a string or null, of at most 1024 bytes")),
        }
    }

    /// Reads a message whose method is not a string. Some serializers write members without a value as null.
    #[cold]
    fn without_method(self, frame: &ByteString) -> Result<Message, Malformed> {
        match self.method {
            Some(method) if !is_null(method) => Err(self.malformed("the member \"method\" must be a string")),
            _ => Self { method: None, ..self }.into_response(frame),
        }
    }

    /// Whether it is a response with the method of its request, as some servers write it.
    fn is_echo(&self) -> bool {
        let has = |member: Option<&RawValue>| member.is_some_and(|value| !is_null(value));
        self.id.is_some() && has(self.method) && (has(self.result) || has(self.error))
    }

    fn into_response(self, frame: &ByteString) -> Result<Message, Malformed> {
        let error = self.error.filter(|error| error.get() != "null");
        let outcome = match (self.result, error) {
            (Some(result), None) => Ok(RawJson::slice(frame, result)),
            // A null result beside an error is how JSON-RPC 1.0 wrote an error.
            (result, Some(error)) if result.is_none_or(|result| result.get() == "null") => {
                match reader::decode::<ErrorObject>(error.get()) {
                    Ok(error) => Err(error),
                    Err(why) => return Err(self.malformed(format_args!("the member \"error\": {why}"))),
                }
            }
            (None, None) => {
                return Err(self.malformed("a message has \"method\", \"result\" or \"error\""));
            }
            _ => return Err(self.malformed("a response has \"result\" or \"error\", not both")),
        };
        // An error about a message whose id could not be read may have no id.
        let id = if self.id.is_none() { Some(RequestId::NULL) } else { self.id() };
        match id {
            Some(id) => Ok(Response { id, outcome }.into()),
            None => Err(self
                .malformed("the member \"id\" must be an integer, a string or null, of at most 1024 bytes")),
        }
    }

    #[cold]
    fn malformed(&self, why: impl fmt::Display) -> Malformed {
        let id = self.id();
        let has_method = self.method.is_some_and(|method| !is_null(method));
        let is_response = !has_method && (self.result.is_some() || self.error.is_some()) || self.is_echo();
        let may_be_response = !has_method && self.params.is_none_or(is_null);
        let is_notification = self.id.is_none() && self.method.is_some_and(|m| m.get().starts_with('"'));
        let intent = match id {
            _ if is_response => Intent::Response(id.unwrap_or(RequestId::NULL)),
            _ if is_notification => Intent::Notification,
            Some(id) if may_be_response && !id.is_null() => Intent::ResponseOrRequest(id),
            id => Intent::Request(id.unwrap_or(RequestId::NULL)),
        };
        Malformed { error: ErrorObject::invalid_request(why), intent }
    }
}

fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

fn is_version_two(version: &RawValue) -> bool {
    let text = version.get();
    text == "\"2.0\"" || text.contains('\\') && reader::decode::<String>(text).is_ok_and(|v| v == "2.0")
}

/// In a frame of at least this many bytes, the method name is copied. A running handler holds the name, and a slice would keep the
/// whole frame in memory.
const LONG_FRAME: usize = 64 << 10;

/// The string that `raw` stands for, sharing the frame's memory where it has no escapes and the frame is short.
fn text_within(frame: &ByteString, raw: &RawValue) -> Option<ByteString> {
    let quoted = raw.get();
    if !quoted.starts_with('"') {
        None
    } else if quoted.contains('\\') {
        serde_json::from_str::<String>(quoted).ok().map(ByteString::from)
    } else {
        let text = quoted.get(1..quoted.len() - 1)?;
        Some(if frame.len() < LONG_FRAME { frame.slice_ref(text) } else { text.into() })
    }
}
