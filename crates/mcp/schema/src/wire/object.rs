//! JSON that stays undecoded, but must be an object.

use agentwire_jsonrpc::RawJson;
use agentwire_jsonrpc::runtime::as_object;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

pub(crate) fn encode_object<T: Serialize + ?Sized>(value: &T) -> Result<RawJson, serde_json::Error> {
    let raw = RawJson::encode(value)?;
    if raw.as_str().starts_with('{') { Ok(raw) } else { Err(not_an_object()) }
}

pub(crate) fn borrowed_object<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    match Option::<&RawValue>::deserialize(deserializer)? {
        None => Ok(None),
        Some(raw) if raw.get().starts_with('{') => Ok(Some(raw)),
        // read: our own text, or text that has been read.
        Some(raw) => match as_object(raw.get()).map(serde_json::from_str) {
            Some(Ok(object)) => Ok(Some(object)),
            _ => Err(not_an_object()),
        },
    }
}

fn not_an_object<E: Error>() -> E {
    E::custom("expected an object")
}
