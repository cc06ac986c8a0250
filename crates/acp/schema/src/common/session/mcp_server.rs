//! HTTP headers and environment variables of MCP servers. `terminal/create` in version 1 and `authMethods` in version 2 use the
//! variables too.

use std::borrow::Cow;

use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_wire_derive::{Build, Wire};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

use crate::common::Meta;

/// An HTTP header.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct HttpHeader {
    /// Its name.
    #[wire(required)]
    pub name: String,
    /// Its value.
    #[wire(required)]
    pub value: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// An environment variable.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct EnvVariable {
    /// Its name.
    #[wire(required)]
    pub name: String,
    /// Its value.
    #[wire(required)]
    pub value: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// An item of a list of names and values. Some peers send an object instead, as in configuration files.
pub(crate) trait NamedValue: DeserializeOwned {
    fn of(name: String, value: String) -> Self;
}

impl NamedValue for HttpHeader {
    fn of(name: String, value: String) -> Self {
        Self::new(name, value)
    }
}

impl NamedValue for EnvVariable {
    fn of(name: String, value: String) -> Self {
        Self::new(name, value)
    }
}

/// Reads a list of names and values, or an object of them. In an object, a number, `true` or `false` is read as its text.
pub(crate) fn read_pairs<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: NamedValue,
{
    let list = RawJson::deserialize(deserializer)?;
    if !list.as_str().starts_with('{') {
        let list = list.decode::<Option<Vec<T>>>().map_err(D::Error::custom)?;
        return Ok(list.unwrap_or_default());
    }
    let object = RawObject::try_from(list).map_err(D::Error::custom)?;
    let pair = |(name, value): (Cow<'_, str>, RawJson)| {
        let value = match value.as_str() {
            text if text.starts_with(['"', '{', '[', 'n']) => value.decode().map_err(D::Error::custom)?,
            text => text.to_owned(),
        };
        Ok(T::of(name.into_owned(), value))
    };
    object.iter().map(pair).collect()
}
