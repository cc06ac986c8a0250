//! Ways to be forgiving that only the drafts need.

use agentwire_jsonrpc::read_items;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Patch;
use super::lenient::decode;
use super::undecoded::undecoded;

/// An array of which bad items are dropped. Anything but an array is an error.
pub(crate) fn valid_items<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    read_items(undecoded(deserializer)?.get()).map_err(D::Error::custom)
}

/// An array; missing when it is none, or when a single item is bad. Never fails on JSON.
pub(crate) fn lenient_list<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    Ok(decode(&raw).unwrap_or_default())
}

/// A member that may be anything, where `null` has a meaning of its own; kept when it is nothing that can be held.
pub(crate) fn patch_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Patch<Value>, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    Ok(decode(&raw).unwrap_or_default())
}
