//! JSON that stays undecoded, but must be an object.

use agentwire_jsonrpc::RawJson;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

pub(crate) fn encode_object<T: Serialize + ?Sized>(value: &T) -> Result<RawJson, serde_json::Error> {
    let raw = RawJson::encode(value)?;
    check(Some(raw.as_str()))?;
    Ok(raw)
}

pub(crate) fn borrowed_object<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    let raw = Option::<&RawValue>::deserialize(deserializer)?;
    check(raw.map(RawValue::get))?;
    Ok(raw)
}

/// The text is known to be JSON, so its first character tells what it is.
fn check<E: Error>(text: Option<&str>) -> Result<(), E> {
    match text {
        Some(text) if !text.trim_ascii_start().starts_with('{') => Err(E::custom("expected an object")),
        _ => Ok(()),
    }
}
