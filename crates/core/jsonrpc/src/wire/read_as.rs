//! The rules for reading a member, strict and lenient: each rule is a type that implements [`ReadAs`].
//!
//! A value is decoded in up to two attempts. The first, strict attempt reads each member by its first rule, which may be one of ACP's
//! published schema. So it too leaves out malformed parts if the schema allows that:
//!
//! | keyword of the schema | rule |
//! |---|---|
//! | `x-deserialize-default-on-error` | [`DefaultOnError`] |
//! | the same with `x-deserialize-skip-invalid-items` | [`Items`], [`OptionalItems`], [`PatchItems`] |
//! | `x-deserialize-skip-invalid-items` | [`ValidItems`] |
//! | `x-deserialize-default-on-null` | [`NullAsDefault`] |
//!
//! If the first attempt fails, [`RawJson::decode_leniently`] makes the second, lenient attempt, for which each member has a second rule:
//! [`OrDefault`] for a member that the protocol does not require, [`OrEmpty`] for a capability, and [`AnySpelling`] for a required
//! member. [`Items`], [`OptionalItems`] and [`RequiredItems`] read a list without its malformed items.
//!
//! | rule for a list | `null` | any other value that is not an array |
//! |---|---|---|
//! | [`Items`] | empty | empty |
//! | [`OptionalItems`] | `None` | `None` |
//! | [`RequiredItems`] | empty | an error |
//! | [`ValidItems`] | an error | an error |
//! | [`PatchItems`] | clears the list | keeps the list |
//!
//! The rules that leave out parts must continue after any fault, so they first read the member as JSON text. That succeeds for every
//! well-formed value, also for a number beyond every type, a lone surrogate, or nesting deeper than `serde_json` decodes. A missing
//! member buffers nothing. Parts that are left out are reported to [`collect_skipped`](crate::collect_skipped).

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, Error};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Patch;
use super::undecoded::undecoded;
use crate::RawJson;
use crate::raw::empty_array::{EmptyArrayAsMap, as_object};
use crate::raw::skipped::{note_skipped, read_items};
use crate::reader::{OTHER_SPELLINGS, Spelling, refuse_reserved};

/// A rule for reading a value of the type `T`.
pub trait ReadAs<'de, T> {
    /// Reads the value.
    ///
    /// # Errors
    ///
    /// When the rule does not accept the value.
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>;
}

/// Reads a value by the rule `W`.
pub(super) struct Seed<W, T>(PhantomData<(W, T)>);

impl<W, T> Seed<W, T> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<'de, T, W: ReadAs<'de, T>> DeserializeSeed<'de> for Seed<W, T> {
    type Value = T;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        W::read(deserializer)
    }
}

/// Every malformed value is an error.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct Strict;

impl<'de, T: Deserialize<'de>> ReadAs<'de, T> for Strict {
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::deserialize(deserializer)
    }
}

/// A malformed value is read as the default. Never fails on JSON.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct DefaultOnError;

impl<'de, T: DeserializeOwned + Default> ReadAs<'de, T> for DefaultOnError {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        default_on_error(deserializer)
    }
}

/// [`DefaultOnError`] as a function, for `#[serde(deserialize_with)]`.
///
/// # Errors
///
/// When the text is not JSON.
pub fn default_on_error<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    Ok(decode(&undecoded(deserializer)?).unwrap_or_default())
}

/// An array without its bad items; empty if the value is not an array. Never fails on JSON.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct Items;

impl<'de, T: DeserializeOwned> ReadAs<'de, Vec<T>> for Items {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        Ok(decode_items(&undecoded(deserializer)?).unwrap_or_default())
    }
}

/// An array without its bad items; `None` if the value is not an array. Never fails on JSON.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct OptionalItems;

impl<'de, T: DeserializeOwned> ReadAs<'de, Option<Vec<T>>> for OptionalItems {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<T>>, D::Error> {
        Ok(decode_items(&undecoded(deserializer)?))
    }
}

/// An array without its bad items. `null` clears the list, and any other value keeps it. Never fails on JSON.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct PatchItems;

impl<'de, T: DeserializeOwned> ReadAs<'de, Patch<Vec<T>>> for PatchItems {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Patch<Vec<T>>, D::Error> {
        let raw = undecoded(deserializer)?;
        if raw.get() == "null" {
            return Ok(Patch::Clear);
        }
        Ok(decode_items(&raw).map_or(Patch::Keep, Patch::Set))
    }
}

/// An array without its bad items. A value that is not an array is an error.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct ValidItems;

impl<'de, T: DeserializeOwned> ReadAs<'de, Vec<T>> for ValidItems {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        read_items(undecoded(deserializer)?.get()).map_err(D::Error::custom)
    }
}

/// `null` is read as the default; any other malformed value is an error.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct NullAsDefault;

impl<'de, T: Deserialize<'de> + Default> ReadAs<'de, T> for NullAsDefault {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        Option::deserialize(deserializer).map(Option::unwrap_or_default)
    }
}

/// A required array without its bad items. `null` is empty; any other value that is not an array is an error.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct RequiredItems;

impl<'de, T: DeserializeOwned> ReadAs<'de, Vec<T>> for RequiredItems {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        let raw = undecoded(deserializer)?;
        if raw.get() == "null" {
            return Ok(Vec::new());
        }
        read_items(raw.get()).map_err(D::Error::custom)
    }
}

/// A map or an optional map, read by the rule `W`. An empty array is an empty map.
#[derive(Debug)]
pub struct MapAs<W>(PhantomData<W>);

impl<'de, T, W: ReadAs<'de, T>> ReadAs<'de, T> for MapAs<W> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        W::read(EmptyArrayAsMap(deserializer))
    }
}

/// The rule `W`, or the default if `W` fails. Never fails on JSON.
#[derive(Debug)]
pub struct OrDefault<W>(PhantomData<W>);

impl<'de, T: Default, W: for<'a> ReadAs<'a, T>> ReadAs<'de, T> for OrDefault<W> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let raw = undecoded(deserializer)?;
        Ok(read_as::<W, T>(raw.get()).inspect_err(|why| note::<T>(&raw, why)).unwrap_or_default())
    }
}

/// A capability, whose presence offers it: as [`OrDefault`], but a malformed value other than `null` and `false` is read as an
/// empty object. Never fails on JSON.
#[derive(Debug)]
pub struct OrEmpty<W>(PhantomData<W>);

impl<'de, T: Default, W: for<'a> ReadAs<'a, T>> ReadAs<'de, T> for OrEmpty<W> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let raw = undecoded(deserializer)?;
        Ok(read_as::<W, T>(raw.get()).unwrap_or_else(|why| {
            note::<T>(&raw, &why);
            let is_offered = !matches!(raw.get(), "null" | "false");
            is_offered.then(|| read_as::<W, T>("{}").ok()).flatten().unwrap_or_default()
        }))
    }
}

/// The rule `W`. If it fails, other spellings of the same value are tried.
#[derive(Debug)]
pub struct AnySpelling<W>(PhantomData<W>);

impl<'de, T, W: for<'a> ReadAs<'a, T>> ReadAs<'de, T> for AnySpelling<W> {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        read_as::<W, T>(undecoded(deserializer)?.get()).map_err(D::Error::custom)
    }
}

/// Undecoded JSON text. `null` counts as a value.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct RawOrNull;

impl<'de> ReadAs<'de, Option<RawJson>> for RawOrNull {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<RawJson>, D::Error> {
        RawJson::deserialize(deserializer).map(Some)
    }
}

/// Undecoded JSON text that must be an object. `None` if it is `null`.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it only names a rule")]
pub struct RawObjectOrNull;

impl<'de> ReadAs<'de, Option<RawJson>> for RawObjectOrNull {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<RawJson>, D::Error> {
        let Some(raw) = Option::<RawJson>::deserialize(deserializer)? else { return Ok(None) };
        raw.into_object().map(Some).ok_or_else(|| D::Error::custom("expected an object"))
    }
}

/// Decodes a value. One that cannot be read is left out and recorded.
fn decode<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    read_as::<Strict, T>(raw.get()).inspect_err(|why| note::<T>(raw, why)).ok()
}

fn decode_items<T: DeserializeOwned>(raw: &RawValue) -> Option<Vec<T>> {
    read_items(raw.get()).inspect_err(|why| note::<Vec<T>>(raw, why)).ok()
}

/// The texts that are tried for a value: as written, in other spellings, and `{}` for an empty array.
const SPELLINGS: [Spelling; 4] = [
    |text| Some(Cow::Borrowed(text)),
    OTHER_SPELLINGS[0],
    OTHER_SPELLINGS[1],
    |text| as_object(text).filter(|_| text.starts_with('[')).map(Cow::Borrowed),
];

/// Reads a value by the rule `W` from the first spelling that can be read. The error is that of the first spelling.
fn read_as<W, T>(text: &str) -> Result<T, serde_json::Error>
where
    W: for<'a> ReadAs<'a, T>,
{
    refuse_reserved(text)?;
    let mut failure = None;
    for spelling in SPELLINGS {
        let Some(text) = spelling(text) else { continue };
        match W::read(&mut serde_json::Deserializer::from_str(&text)) {
            Ok(value) => return Ok(value),
            Err(why) => failure = failure.or(Some(why)),
        }
    }
    Err(failure.expect("the first spelling is the text itself"))
}

/// Records a part that is left out, unless it is `null`, which counts as missing.
fn note<T>(raw: &RawValue, why: &serde_json::Error) {
    if raw.get() != "null" {
        note_skipped::<T>(None, why);
    }
}
