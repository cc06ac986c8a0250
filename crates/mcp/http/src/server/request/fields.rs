//! The headers that an endpoint reads, found in one pass over all headers of a request.

use agentwire_mcp_wire::header as names;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN};
use http::{HeaderMap, StatusCode};

use crate::header;
use crate::server::admission::denied::Denied;

/// A header that is checked before the body is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Host,
    Origin,
    Accept,
    ContentType,
    ContentLength,
    ProtocolVersion,
    SessionId,
    LastEventId,
}

const FIELDS: usize = 8;

/// The bytes of a header beside its text: its place in the map, part of which is empty, and in HTTP/2 an allocation for each
/// of its two texts.
const FIELD_COST: usize = 256;

/// The headers of a request, with the values of each [`Field`].
pub(crate) struct Fields<'a> {
    headers: &'a HeaderMap,
    found: [FieldValues<'a>; FIELDS],
    len: usize,
}

#[derive(Clone, Copy)]
enum FieldValues<'a> {
    Nothing,
    One(&'a HeaderValue),
    Several,
}

impl Field {
    fn of(name: &HeaderName) -> Option<Self> {
        Some(match name.as_str() {
            "host" => Self::Host,
            "origin" => Self::Origin,
            "accept" => Self::Accept,
            "content-type" => Self::ContentType,
            "content-length" => Self::ContentLength,
            names::PROTOCOL_VERSION => Self::ProtocolVersion,
            names::SESSION_ID => Self::SessionId,
            "last-event-id" => Self::LastEventId,
            _ => return None,
        })
    }

    fn name(self) -> HeaderName {
        match self {
            Self::Host => HOST,
            Self::Origin => ORIGIN,
            Self::Accept => ACCEPT,
            Self::ContentType => CONTENT_TYPE,
            Self::ContentLength => CONTENT_LENGTH,
            Self::ProtocolVersion => header::PROTOCOL_VERSION,
            Self::SessionId => header::SESSION_ID,
            Self::LastEventId => header::LAST_EVENT_ID,
        }
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn of(headers: &'a HeaderMap) -> Self {
        let (mut found, mut len) = ([FieldValues::Nothing; FIELDS], 0);
        for (name, value) in headers {
            len += FIELD_COST + name.as_str().len() + value.len();
            if let Some(field) = Field::of(name) {
                let place = &mut found[field as usize];
                *place = if matches!(place, FieldValues::Nothing) {
                    FieldValues::One(value)
                } else {
                    FieldValues::Several
                };
            }
        }
        Self { headers, found, len }
    }

    /// About how many bytes of memory all headers take.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Every value of a header.
    pub(crate) fn all(&self, field: Field) -> impl Iterator<Item = &'a HeaderValue> + use<'a> {
        let (one, several) = match self.found[field as usize] {
            FieldValues::Nothing => (None, None),
            FieldValues::One(value) => (Some(value), None),
            FieldValues::Several => (None, Some(self.headers.get_all(field.name()))),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }

    /// The value of a header that occurs once.
    pub(crate) fn only(&self, field: Field) -> Option<&'a HeaderValue> {
        match self.found[field as usize] {
            FieldValues::One(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a header, if it has one. Fails if it has several, because two readers could choose different ones.
    pub(crate) fn single(&self, field: Field) -> Result<Option<&'a [u8]>, Denied> {
        match self.found[field as usize] {
            FieldValues::Nothing => Ok(None),
            FieldValues::One(value) => Ok(Some(value.as_bytes().trim_ascii())),
            FieldValues::Several => Err(twice(&field.name())),
        }
    }
}

/// As [`Fields::single`], for any header.
pub(crate) fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a [u8]>, Denied> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(|value| value.as_bytes().trim_ascii());
    if values.next().is_some() { Err(twice(name)) } else { Ok(value) }
}

fn twice(name: &HeaderName) -> Denied {
    Denied::new(StatusCode::BAD_REQUEST, format!("the header {name} occurs more than once"))
}
