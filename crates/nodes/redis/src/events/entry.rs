//! Reads the entries of the engine's streams.

use agentwire_store::StoreError;
use bytes::Bytes;
use redis::{RedisError, Value};

use crate::error::unexpected;

/// The id of the entry that ends a stream. The engine refuses every later one.
pub(crate) const END: &str = "18446744073709551615-0";

/// The place in [`END`].
const END_PLACE: u64 = u64::MAX;

/// An entry of a stream: its beginning, an event, or its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamEntry {
    /// The first number of the entry's id, which is the place of the event.
    pub(crate) place: u64,
    /// The data of the event.
    pub(crate) data: Option<Bytes>,
    /// The `StreamRun` of the stream, as JSON.
    pub(crate) runs: Option<Bytes>,
    /// The place of the event, if the entry is the end: the id is not its place then.
    pub(crate) last_place: Option<u64>,
}

impl StreamEntry {
    /// Returns whether the entry ends the stream.
    pub(crate) fn is_end(&self) -> bool {
        self.place == END_PLACE
    }
}

/// Reads the reply to XRANGE or XREVRANGE.
pub(crate) fn entries(reply: Value) -> Result<Vec<StreamEntry>, StoreError> {
    let Value::Array(entries) = reply else { return Err(unexpected("XRANGE")) };
    entries.into_iter().map(|reply| entry(reply).ok_or_else(|| unexpected("XRANGE"))).collect()
}

fn entry(reply: Value) -> Option<StreamEntry> {
    let Value::Array(parts) = reply else { return None };
    let Ok([Value::BulkString(id), Value::Array(fields)]) = <[Value; 2]>::try_from(parts) else {
        return None;
    };
    let mut entry =
        StreamEntry { place: number(id.split(|byte| *byte == b'-').next()?)?, ..Default::default() };
    let mut fields = fields.into_iter();
    while let (Some(Value::BulkString(name)), Some(Value::BulkString(value))) = (fields.next(), fields.next())
    {
        match &*name {
            b"d" => entry.data = Some(value.into()),
            b"r" => entry.runs = Some(value.into()),
            b"p" => entry.last_place = number(&value),
            _ => (),
        }
    }
    Some(entry)
}

/// Reads a stream that is stored as a single event, which ended it: the place, a space, the data.
pub(crate) fn only_event(value: Value) -> Result<Option<(u64, Bytes)>, StoreError> {
    let text = match value {
        Value::Nil => return Ok(None),
        Value::BulkString(text) => Bytes::from(text),
        _ => return Err(unexpected("GET")),
    };
    let space = text.iter().position(|byte| *byte == b' ').ok_or_else(|| unexpected("GET"))?;
    let place = number(&text[..space]).ok_or_else(|| unexpected("GET"))?;
    Ok(Some((place, text.slice(space + 1..))))
}

/// Returns whether a command failed because the stream at its key is stored as a single event.
pub(crate) fn is_only_event(error: &RedisError) -> bool {
    error.code() == Some("WRONGTYPE")
}

fn number(text: &[u8]) -> Option<u64> {
    str::from_utf8(text).ok()?.parse().ok()
}
