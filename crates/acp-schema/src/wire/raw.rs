//! Members of the drafts that hold somebody else's JSON, which stays the text that it is.

use agentwire_jsonrpc::RawJson;
use serde::{Deserialize, Deserializer, de};

/// JSON text that stays as it is, but must be an object; missing when it is `null`.
pub(crate) fn raw_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RawJson>, D::Error> {
    let raw = Option::<RawJson>::deserialize(deserializer)?;
    match raw {
        Some(raw) if !raw.as_str().starts_with('{') => Err(de::Error::custom("an object is wanted")),
        raw => Ok(raw),
    }
}

/// JSON text that stays as it is. `null` is something, too.
pub(crate) fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RawJson>, D::Error> {
    RawJson::deserialize(deserializer).map(Some)
}
