//! The JSON-RPC request id: an integer of any size, a string or null. Its text is kept, except that `2.0` becomes `2`.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::reader::{self, RAW_VALUE};
use crate::{Printable, RawJson};

/// The `id` that ties a response to its request.
///
/// An integer of any size, a string, or null; its JSON text has at most 1,024 bytes. `1` and `"1"` are two different
/// ids. `2.0` is the integer 2, as in JSON Schema; some languages write every number this way. Null is accepted, because
/// peers send it, but requests of this library never have it.
///
/// An integer is sent back with all its digits, and a string with its escapes, although two spellings of one string are equal
/// here. A fraction of zeros or an exponent is dropped: `2.0` is sent back as `2`.
#[derive(Clone)]
pub struct RequestId(Repr);

#[derive(Clone)]
enum Repr {
    Null,
    Signed(i64),
    /// Only numbers above `i64::MAX`, so that equal numbers have one form.
    Unsigned(u64),
    /// The digits of any other integer, and its sign.
    Large(Box<str>),
    /// The JSON text, quotes and escapes included.
    Text(Box<str>),
}

impl RequestId {
    /// The id `null`.
    pub const NULL: Self = Self(Repr::Null);

    /// The length in bytes that the JSON text of an id may have. Ids are copied, compared and kept until they are
    /// answered.
    pub const LIMIT: usize = 1024;

    /// Reads an id from its JSON text; `None` if it is not an integer, a string or null, or is too long.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        if text.len() > Self::LIMIT {
            return None;
        }
        match text.as_bytes().first()? {
            b'n' => Some(Self::NULL),
            b'"' => decode_text(text).map(|_| Self(Repr::Text(text.into()))),
            b'-' if text == "-0" => None,
            b'-' => {
                text.parse().map(|n| Self(Repr::Signed(n))).ok().or_else(|| Self::large(text, &text[1..]))
            }
            _ => text.parse::<u64>().map(Self::from).ok().or_else(|| Self::large(text, text)),
        }
    }

    /// An integer that is out of the range of all types, or is written with a fraction or an exponent.
    fn large(text: &str, digits: &str) -> Option<Self> {
        if digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Some(Self(Repr::Large(text.into())));
        }
        integer(text.parse().ok()?).map(Self::from)
    }

    /// The number that a string id contains, if any. Some peers answer the request `2` under `"2"`.
    pub fn number_in_text(&self) -> Option<Self> {
        self.as_str()?.parse().map(|number: u64| Self::from(number)).ok()
    }

    /// Whether a response under this id answers the request `id`: the ids are equal, or this id is the number of `id` as text.
    pub(crate) fn answers(&self, id: &Self) -> bool {
        self == id || self.number_in_text().as_ref() == Some(id)
    }

    /// The length of the text that it holds memory for.
    pub(crate) fn text_len(&self) -> usize {
        match &self.0 {
            Repr::Text(text) | Repr::Large(text) => text.len(),
            _ => 0,
        }
    }

    /// The length of the JSON text in bytes.
    pub(crate) fn json_len(&self) -> usize {
        let digits = |number: u64| number.checked_ilog10().map_or(1, |log| log as usize + 1);
        match self.0 {
            Repr::Null => "null".len(),
            Repr::Signed(number) => usize::from(number < 0) + digits(number.unsigned_abs()),
            Repr::Unsigned(number) => digits(number),
            Repr::Text(_) | Repr::Large(_) => self.text_len(),
        }
    }

    /// Writes the JSON text: a string or a large integer as it arrived, another integer by its value.
    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let number = match &self.0 {
            Repr::Null => return out.extend_from_slice(b"null"),
            Repr::Text(text) | Repr::Large(text) => return out.extend_from_slice(text.as_bytes()),
            Repr::Signed(number) => serde_json::to_writer(out, number),
            Repr::Unsigned(number) => serde_json::to_writer(out, number),
        };
        number.expect("a growing buffer takes every number");
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.0, Repr::Null)
    }

    /// The id as an `i64`, if it is an integer in that range.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Signed(n) => Some(n),
            _ => None,
        }
    }

    /// The id as a `u64`, if it is an integer in that range.
    pub fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Repr::Signed(n) => u64::try_from(n).ok(),
            Repr::Unsigned(n) => Some(n),
            _ => None,
        }
    }

    /// The string without its escapes, if it is one. Half a surrogate pair is U+FFFD.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        match &self.0 {
            Repr::Text(text) => decode_text(text),
            _ => None,
        }
    }
}

/// The integer that a number is, if it is one and is small enough to be exact.
fn integer(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_exact =
        number.fract() == 0.0 && number.abs() < EXACT && !(number == 0.0 && number.is_sign_negative());
    #[allow(clippy::cast_possible_truncation, reason = "it is an integer of 53 bits")]
    is_exact.then_some(number as i64)
}

/// Decodes a JSON string. `None` if it is invalid.
fn decode_text(text: &str) -> Option<Cow<'_, str>> {
    if text.contains('\\') {
        reader::decode(text).ok().map(Cow::Owned)
    } else {
        text.get(1..text.len().checked_sub(1)?).map(Cow::Borrowed)
    }
}

/// A key that is equal for two spellings of one string. Strings with half a surrogate pair decode to the same replacement
/// character, so their key is their text.
fn identity(text: &str) -> (bool, Option<Cow<'_, str>>) {
    match reader::whole_pairs(text) {
        Cow::Borrowed(_) => (true, decode_text(text)),
        Cow::Owned(_) => (false, Some(Cow::Borrowed(text))),
    }
}

impl fmt::Display for RequestId {
    /// The JSON text, byte for byte as it arrived.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Null => f.write_str("null"),
            Repr::Signed(n) => n.fmt(f),
            Repr::Unsigned(n) => n.fmt(f),
            Repr::Text(text) | Repr::Large(text) => f.write_str(text),
        }
    }
}

/// The JSON text, as [`Printable`] shows it.
impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Printable::display(self), f)
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Null, Repr::Null) => true,
            (Repr::Signed(a), Repr::Signed(b)) => a == b,
            (Repr::Unsigned(a), Repr::Unsigned(b)) => a == b,
            (Repr::Large(a), Repr::Large(b)) => a == b,
            (Repr::Text(a), Repr::Text(b)) => a == b || identity(a) == identity(b),
            _ => false,
        }
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(&self.0).hash(state);
        match &self.0 {
            Repr::Null => {}
            Repr::Signed(n) => n.hash(state),
            Repr::Unsigned(n) => n.hash(state),
            Repr::Large(text) => text.hash(state),
            Repr::Text(text) => identity(text).hash(state),
        }
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self(Repr::Signed(number))
    }
}

impl From<u64> for RequestId {
    fn from(number: u64) -> Self {
        Self(i64::try_from(number).map_or(Repr::Unsigned(number), Repr::Signed))
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        let json = serde_json::to_string(text).expect("a string always has a JSON form");
        Self(Repr::Text(json.into()))
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Null => serializer.serialize_unit(),
            Repr::Signed(n) => serializer.serialize_i64(*n),
            Repr::Unsigned(n) => serializer.serialize_u64(*n),
            Repr::Large(text) => RawJson::of_known((&**text).into()).serialize(serializer),
            Repr::Text(text) => match identity(text) {
                (true, Some(text)) => serializer.serialize_str(&text),
                _ => RawJson::of_known((&**text).into()).serialize(serializer),
            },
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As text, because an integer may have more digits than any type of serde's.
        deserializer.deserialize_newtype_struct(RAW_VALUE, IdVisitor)
    }
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = RequestId;

    /// Reads the form that `serde_json` gives a raw value: an object with one member, the text.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestId, A::Error> {
        map.next_key::<IgnoredAny>()?;
        map.next_value_seed(JsonText)
    }

    /// Reads other formats, which have no raw values.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<RequestId, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request id: an integer, a string or null, of at most 1024 bytes")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<RequestId, E> {
        Ok(number.into())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<RequestId, E> {
        Ok(number.into())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<RequestId, E> {
        integer(number)
            .map(RequestId::from)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Float(number), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RequestId, E> {
        Ok(text.into())
    }

    fn visit_unit<E: de::Error>(self) -> Result<RequestId, E> {
        Ok(RequestId::NULL)
    }
}

/// An id from its JSON text.
struct JsonText;

impl<'de> DeserializeSeed<'de> for JsonText {
    type Value = RequestId;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RequestId, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for JsonText {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        IdVisitor.expecting(f)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RequestId, E> {
        RequestId::from_json(text)
            .ok_or_else(|| E::custom(format_args!("expected {}", &self as &dyn de::Expected)))
    }
}
