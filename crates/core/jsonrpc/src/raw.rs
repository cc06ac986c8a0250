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
/// Cloning copies no text. The text is always one complete and well-formed JSON value, without white space
/// around it and on one line: where it came with line breaks between its tokens, each of them is a space here,
/// so that no text can break the line framing of a transport. Decoding it into a type may
/// still fail, because the type may want something else or because it is nested deeper than 128 levels, which
/// `serde_json` refuses.
///
/// A value that was read holds no member name that `serde_json` gives a meaning of its own (see [`read`](crate::read)), so
/// every type decodes the same members. Values that this side encodes are not checked.
///
/// Two values are equal whatever the order of members, white space and escapes; `1.0` equals `1`. A value whose tree
/// takes more than [`RawJson::COMPARED`] bytes of memory is compared by its text.
#[derive(Clone)]
pub struct RawJson(ByteString);

thread_local! {
    /// Where a thread writes a value before its length is known, with room for at most twice [`RawJson::SMALL`]. Without any at
    /// first, after a long value, after one that failed, and while another value of the thread is encoded.
    static ENCODED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl RawJson {
    /// The JSON value `null`.
    pub const NULL: Self = Self(ByteString::from_static("null"));
    /// The JSON value `{}`.
    pub const EMPTY_OBJECT: Self = Self(ByteString::from_static("{}"));

    /// The largest tree that `==` builds of a value, in bytes of memory: 32 MiB.
    pub const COMPARED: usize = 32 << 20;

    /// The size in bytes up to which a value gets memory of exactly its length: enough for most.
    const SMALL: usize = 4 << 10;
    /// The room in bytes to begin with.
    const SHORT: usize = 512;

    /// Encodes a value.
    ///
    /// # Errors
    ///
    /// When the value has no JSON form, such as a map whose keys are not strings.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        // A thread that ends has none.
        let mut text = ENCODED.try_with(Cell::take).unwrap_or_default();
        text.clear();
        text.reserve(Self::SHORT);
        serde_json::to_writer(&mut text, value)?;
        Ok(Self::encoded(text))
    }

    /// Not part of the above, so that a program has it once and not for each type.
    fn encoded(text: Vec<u8>) -> Self {
        if text.len() > Self::SMALL {
            return Self::written(fitted(text));
        }
        let bytes = Bytes::copy_from_slice(&text);
        // Where the thread ends, the vector is dropped.
        let _ = ENCODED.try_with(|place| place.set(text));
        Self::written(bytes)
    }

    /// Encodes a value that is expected to have about so many bytes. Room for a long one need not be made in steps, of
    /// which the last takes twice what is used.
    ///
    /// # Errors
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_sized<T: Serialize + ?Sized>(value: &T, bytes: usize) -> Result<Self, serde_json::Error> {
        let mut text = Vec::with_capacity(bytes);
        serde_json::to_writer(&mut text, value)?;
        Ok(Self::written(fitted(text)))
    }

    /// Takes text that must be one complete JSON value; white space around it is left out.
    ///
    /// # Errors
    ///
    /// When it is not, or when a member's name begins with `$serde_json::private::` (see [`read`](crate::read)).
    pub fn parse(text: ByteString) -> Result<Self, serde_json::Error> {
        reader::refuse_reserved(&text)?;
        let raw = serde_json::from_str::<&RawValue>(&text)?;
        Ok(Self::slice(&text, raw))
    }

    /// The same text in memory of its own: a [`part`](Self::part) keeps the whole message.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self((&*self.0).into())
    }

    /// Text that is known to be JSON.
    pub(crate) fn of_known(text: ByteString) -> Self {
        Self(on_one_line(text))
    }

    /// Text that `serde_json` has found to be a value.
    pub(crate) fn of_value<E: Error>(text: Cow<'_, str>) -> Result<Self, E> {
        reader::refuse_reserved(&text).map_err(E::custom)?;
        Ok(Self::of_known(match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }))
    }

    /// A value within this one, sharing the memory: one that [`Members`](crate::runtime::Members) found in this text. It need
    /// not be checked again.
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
    /// When the text lies elsewhere in memory.
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

    /// Decodes the value as [`read`](crate::read) does.
    ///
    /// # Errors
    ///
    /// When the text is not what `T` wants; the error names the place.
    #[inline]
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        reader::decode(&self.0)
    }

    /// The same with `\ufffd` in the place of each escape that is half a surrogate pair. [`decode`](Self::decode) does that
    /// by itself, but needs both texts at once for it: for a long text this comes first.
    #[must_use]
    pub fn with_whole_pairs(self) -> Self {
        match reader::whole_pairs(&self.0) {
            Cow::Borrowed(_) => self,
            Cow::Owned(text) => Self(text.into()),
        }
    }

    /// The elements of this array, one by one, as slices of the same text. `None` if this is not an array.
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

    /// The text for people who judge it: without white space between its tokens, and with no escape in a string that JSON
    /// does not require, so that no escape hides a word.
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

    /// Always false: no JSON value is empty text. Here because [`len`](Self::len) is.
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

/// Replaces line breaks, which well-formed JSON has between its tokens only.
fn on_one_line(text: ByteString) -> ByteString {
    match memchr::memchr2(b'\n', b'\r', text.as_bytes()) {
        Some(_) => text.replace(['\n', '\r'], " ").into(),
        None => text,
    }
}

/// Text that takes hardly more memory than it has bytes. It may wait for a peer for long, and what was made in steps has room
/// for as much again.
fn fitted(mut text: Vec<u8>) -> Bytes {
    if text.capacity() > RawJson::SMALL && text.capacity() - text.len() > text.len() / 4 {
        text.shrink_to_fit();
    }
    text.into()
}

/// A value of one's own. What another wrote is better read as a `RawJson` at once: a [`Value`] changes long numbers.
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
    /// The values written so far, one behind the other.
    shared: BytesMut,
}

impl Encoder {
    /// The size of one allocation in bytes. A value from this size on has one of its own.
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

    /// Keeps what was written. Not part of the above, so that a program has it once and not for each type.
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

/// Writes the text as it is where the format is `serde_json`'s.
impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = <&RawValue>::deserialize(KnownJson(&self.0)).or_else(|_| serde_json::from_str(&self.0));
        raw.map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

/// Text that is known to be JSON, to be read as a [`RawValue`] and as nothing else. `serde_json` itself would look for
/// faults in it, which takes longer than to write it.
struct KnownJson<'a>(&'a str);

impl<'de> Deserializer<'de> for KnownJson<'de> {
    type Error = serde_json::Error;

    /// A raw value asks for a newtype, and is given an object whose one member, of the same name, is the text.
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
