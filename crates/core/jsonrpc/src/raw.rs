//! An undecoded JSON value as a shared slice of its text, and an encoder that shares memory between small values.

pub(crate) mod builder;
pub(crate) mod empty_array;
pub(crate) mod equality;
pub(crate) mod raw_object;
pub(crate) mod raw_object_reader;
pub(crate) mod skipped;

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::iter;

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, forward_to_deserialize_any};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Printable;
use crate::reader;
use crate::text::Text;
use crate::text::any_text::AnyText;
use crate::text::members;
use crate::text::members::Members;
use crate::text::plain::plain;

/// One undecoded JSON value: a cheap, shared slice of the text it arrived in.
///
/// Cloning copies no text. The text is one complete and well-formed JSON value on one line, without white space around it.
/// Line breaks between its tokens are replaced by spaces, so that no value breaks the line framing of a transport. Decoding
/// may still fail: the type may expect another value, and `serde_json` refuses nesting deeper than 128 levels.
///
/// A value that was read contains no member name with a special meaning in `serde_json` (see [`read`](crate::read)), so
/// every type decodes the same members. Values that this side encodes are not checked.
///
/// Equality ignores the order of members, white space and escapes; `1.0` equals `1`. A value whose tree takes more than
/// [`RawJson::COMPARE_LIMIT`] bytes of memory is compared by its text.
#[derive(Clone)]
pub struct RawJson(ByteString);

thread_local! {
    /// The buffer into which a thread encodes a value before its length is known. It keeps at most twice [`RawJson::SMALL`]
    /// bytes. It is empty at first, after a long or failed value, and while another value of the thread is encoded.
    static ENCODED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl RawJson {
    /// The JSON value `null`.
    pub const NULL: Self = Self(ByteString::from_static("null"));
    /// The JSON value `{}`.
    pub const EMPTY_OBJECT: Self = Self(ByteString::from_static("{}"));

    /// The largest tree of a value that `==` builds, in bytes of memory: 32 MiB.
    pub const COMPARE_LIMIT: usize = 32 << 20;

    /// The size in bytes up to which a value is copied into memory of exactly its length. Most values are smaller.
    const SMALL: usize = 4 << 10;
    /// The initial capacity of the buffer, in bytes.
    const SHORT: usize = 512;

    /// Encodes a value.
    ///
    /// # Errors
    ///
    /// When the value has no JSON form, such as a map whose keys are not strings.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        // A thread that is ending has no buffer any more.
        let mut text = ENCODED.try_with(Cell::take).unwrap_or_default();
        text.clear();
        text.reserve(Self::SHORT);
        serde_json::to_writer(&mut text, value)?;
        Ok(Self::encoded(text))
    }

    /// Separate from [`encode`](Self::encode), so that it is compiled once and not for each type.
    fn encoded(text: Vec<u8>) -> Self {
        if text.len() > Self::SMALL {
            return Self::written(fitted(text));
        }
        let bytes = Bytes::copy_from_slice(&text);
        // If the thread is ending, the vector is dropped.
        let _ = ENCODED.try_with(|place| place.set(text));
        Self::written(bytes)
    }

    /// Encodes a value with an expected size of `bytes`. The buffer of a long value then does not grow in steps, the last of
    /// which would take twice the size.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_sized<T: Serialize + ?Sized>(value: &T, bytes: usize) -> Result<Self, serde_json::Error> {
        let mut text = Vec::with_capacity(bytes);
        serde_json::to_writer(&mut text, value)?;
        Ok(Self::written(fitted(text)))
    }

    /// Makes a value of text that must be one complete JSON value. White space around it is removed.
    ///
    /// # Errors
    ///
    /// When the text is not one JSON value, or when a member's name begins with `$serde_json::private::` (see
    /// [`read`](crate::read)).
    pub fn parse(text: ByteString) -> Result<Self, serde_json::Error> {
        reader::refuse_reserved(&text)?;
        let raw = serde_json::from_str::<&RawValue>(&text)?;
        Ok(Self::slice(&text, raw))
    }

    /// Copies the text into its own memory. A [`part`](Self::part) would keep the memory of the whole message.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self((&*self.0).into())
    }

    /// Wraps text that is already known to be JSON.
    pub(crate) fn of_known(text: ByteString) -> Self {
        Self(on_one_line(text))
    }

    /// Wraps text that `serde_json` has parsed. Fails if it has a reserved member name.
    pub(crate) fn of_value<E: Error>(text: Cow<'_, str>) -> Result<Self, E> {
        reader::refuse_reserved(&text).map_err(E::custom)?;
        Ok(Self::of_known(match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }))
    }

    /// Returns a value within this one, such as one found by [`Members`](crate::runtime::Members). It shares the memory and is
    /// not checked again.
    ///
    /// ```
    /// use agentwire_jsonrpc::RawJson;
    /// use agentwire_jsonrpc::runtime::Members;
    ///
    /// let params = RawJson::parse(r#"{"name":"add","arguments":{"a":2}}"#.into())?;
    /// let (_, arguments) = Members::of(params.as_str()).last().unwrap();
    /// assert_eq!(params.part(arguments).decode::<serde_json::Value>()?["a"], 2);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `text` is not a slice of this value's text.
    #[must_use]
    pub fn part(&self, text: &str) -> Self {
        Self(self.0.slice_ref(text))
    }

    /// Wraps text that `serde_json` has written.
    fn written(text: Bytes) -> Self {
        Self(on_one_line(ByteString::try_from(text).expect("serde_json writes UTF-8 only")))
    }

    /// The part of `frame` that `raw` borrows, sharing the memory.
    pub(crate) fn slice(frame: &ByteString, raw: &RawValue) -> Self {
        Self(on_one_line(frame.slice_ref(raw.get())))
    }

    /// Decodes the value as [`read`](crate::read) does. Reserved names are not searched for again.
    ///
    /// # Errors
    ///
    /// When `T` cannot be decoded from the text; the error names the place.
    #[inline]
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        reader::decode(&self.0)
    }

    /// Replaces each escape that is half a surrogate pair by `\ufffd`. [`decode`](Self::decode) also does that, but then
    /// holds both texts in memory; for a long text, call this first.
    #[must_use]
    pub fn with_whole_pairs(self) -> Self {
        match reader::whole_pairs(&self.0) {
            Cow::Borrowed(_) => self,
            Cow::Owned(text) => Self(text.into()),
        }
    }

    /// Iterates over the elements of this array, as slices of the same text. Empty if this is not an array.
    ///
    /// ```
    /// use agentwire_jsonrpc::RawJson;
    ///
    /// let array = RawJson::parse(r#"[1, {"a": []}, "]"]"#.into())?;
    /// let elements: Vec<_> = array.elements().map(|element| element.to_string()).collect();
    /// assert_eq!(elements, ["1", r#"{"a": []}"#, r#""]""#]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn elements(&self) -> impl Iterator<Item = Self> {
        members::elements(&self.0).map(|element| self.part(element))
    }

    /// The value of the member of that name, as a slice of the same text; the last one of several. `None` if the
    /// member is missing or this is not an object.
    pub fn member(&self, name: &str) -> Option<Self> {
        let found = Members::of(&self.0).filter(|(other, _)| other == name).last();
        found.map(|(_, value)| self.part(value))
    }

    /// The text as it arrived or was written, on one line.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text for a person who reviews it: without white space between tokens, and with only the escapes that JSON requires,
    /// so that no escape hides a word.
    ///
    /// ```
    /// use agentwire_jsonrpc::RawJson;
    ///
    /// let input = RawJson::parse(r#"{ "command": "\u0072\u006d", "n": 1.10 }"#.into())?;
    /// assert_eq!(input.plain(), r#"{"command":"rm","n":1.10}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn plain(&self) -> String {
        plain(&self.0)
    }

    /// The text's length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Always false, because no JSON value is empty text. It exists because [`len`](Self::len) does.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this is the value `null`.
    #[inline]
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// The text as shared bytes.
    #[inline]
    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }
}

/// Replaces line breaks by spaces. Well-formed JSON has them only between tokens.
fn on_one_line(text: ByteString) -> ByteString {
    match memchr::memchr2(b'\n', b'\r', text.as_bytes()) {
        Some(_) => text.replace(['\n', '\r'], " ").into(),
        None => text,
    }
}

/// Shrinks a buffer whose capacity is far larger than its text: a value may wait for a slow peer for long. A buffer that
/// grew in steps may have twice the capacity.
fn fitted(mut text: Vec<u8>) -> Bytes {
    if text.capacity() > RawJson::SMALL && text.capacity() - text.len() > text.len() / 4 {
        text.shrink_to_fit();
    }
    text.into()
}

/// For values that this side makes. Read a peer's value as a `RawJson` directly, because a [`Value`] changes long numbers.
impl From<Value> for RawJson {
    fn from(value: Value) -> Self {
        Self::written(value.to_string().into())
    }
}

/// The JSON text, as [`Printable`] shows it.
impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Printable::new(&self.0), f)
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Encodes many small values into shared memory.
///
/// [`RawJson::encode`] allocates for each value. An encoder allocates for about a hundred values at once, and reuses the
/// memory when they are dropped.
#[derive(Debug, Default)]
pub struct Encoder {
    /// The current value: `serde_json` writes fastest into a vector.
    text: Vec<u8>,
    /// The values written so far, one after the other.
    shared: BytesMut,
}

impl Encoder {
    /// The size of one allocation in bytes. A value of this size or more gets its own.
    const CHUNK: usize = 16 << 10;

    /// Encodes a value.
    ///
    /// # Errors
    ///
    /// When the value has no JSON form, such as a map whose keys are not strings.
    pub fn encode<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<RawJson, serde_json::Error> {
        self.text.clear();
        serde_json::to_writer(&mut self.text, value)?;
        Ok(self.keep())
    }

    /// Keeps the written value. Separate from [`encode`](Self::encode), so that it is compiled once and not for each type.
    fn keep(&mut self) -> RawJson {
        let bytes = if self.text.len() >= Self::CHUNK {
            fitted(std::mem::take(&mut self.text))
        } else {
            if self.shared.capacity() < self.text.len() {
                self.shared.reserve(Self::CHUNK);
            }
            self.shared.extend_from_slice(&self.text);
            self.shared.split().freeze()
        };
        RawJson::written(bytes)
    }
}

/// Writes the text unchanged if the serializer is one of `serde_json`.
impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = <&RawValue>::deserialize(KnownJson(&self.0)).or_else(|_| serde_json::from_str(&self.0));
        raw.map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

/// A deserializer that makes a [`RawValue`] of text that is known to be JSON. `serde_json` would check the text again, which
/// takes longer than writing it.
struct KnownJson<'a>(&'a str);

impl<'de> Deserializer<'de> for KnownJson<'de> {
    type Error = serde_json::Error;

    /// `RawValue` requests a newtype, and expects an object whose only member has that newtype's name and the text as value.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        visitor.visit_map(MapDeserializer::new(iter::once((name, BorrowedStrDeserializer::new(self.0)))))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, serde_json::Error> {
        Err(serde_json::Error::custom("only a raw value can be read"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = AnyText.deserialize(deserializer)?;
        Self::of_value(text)
    }
}
