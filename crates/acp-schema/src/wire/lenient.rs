//! The three ways in which the published schema tells a reader to be forgiving, as `deserialize_with` functions.
//!
//! | keyword of the schema | function |
//! |---|---|
//! | `x-deserialize-default-on-error` | [`lenient`] |
//! | the same with `x-deserialize-skip-invalid-items` | [`items`], [`optional_items`], [`patch_items`] |
//! | `x-deserialize-default-on-null` | [`null_as_empty`] |
//!
//! The first two must go on after any fault, so they first take the member as JSON text, which succeeds for every
//! well-formed value: also for a number that no type holds, a lone surrogate, or a nesting deeper than
//! `serde_json` decodes. Nothing is buffered where the member is missing. What is left out is noted for
//! `agentwire_jsonrpc::noting`.

use agentwire_jsonrpc::{note_skipped, read, read_items};
use serde::de::DeserializeOwned;
#[cfg(any(feature = "unstable", feature = "v2"))]
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Patch;
use super::undecoded::undecoded;

/// A member that counts as missing when it is malformed. Never fails on JSON.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    Ok(decode(&undecoded(deserializer)?).unwrap_or_default())
}

/// An array of which bad items are dropped; empty when it is no array. Never fails on JSON.
pub(crate) fn items<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(decode_items(&undecoded(deserializer)?).unwrap_or_default())
}

/// An array of which bad items are dropped; missing when it is no array. Never fails on JSON.
pub(crate) fn optional_items<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(decode_items(&undecoded(deserializer)?))
}

/// An array of which bad items are dropped, where `null` has a meaning of its own. Never fails on JSON.
pub(crate) fn patch_items<'de, D, T>(deserializer: D) -> Result<Patch<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let raw = undecoded(deserializer)?;
    if raw.get() == "null" {
        return Ok(Patch::Clear);
    }
    Ok(decode_items(&raw).map_or(Patch::Keep, Patch::Set))
}

/// An array of which bad items are dropped. Anything but an array is an error.
#[cfg(any(feature = "unstable", feature = "v2"))]
#[allow(dead_code, reason = "it depends on the draft")]
pub(crate) fn valid_items<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    read_items(undecoded(deserializer)?.get()).map_err(D::Error::custom)
}

/// A collection for which `null` means empty; anything else that is wrong stays an error.
pub(crate) fn null_as_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Decodes a value; one that cannot be read is left out, which is noted.
fn decode<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    read(raw.get()).inspect_err(|why| note::<T>(raw, why)).ok()
}

fn decode_items<T: DeserializeOwned>(raw: &RawValue) -> Option<Vec<T>> {
    read_items(raw.get()).inspect_err(|why| note::<Vec<T>>(raw, why)).ok()
}

/// What is null is no more than missing.
fn note<T>(raw: &RawValue, why: &serde_json::Error) {
    if raw.get() != "null" {
        note_skipped::<T>(None, why);
    }
}
