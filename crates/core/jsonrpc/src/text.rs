//! Scans, escapes and estimates JSON text. `Text` is a deserialized string that borrows from the input if possible.

pub(crate) mod any_text;
pub(crate) mod members;
pub(crate) mod nearest;
pub(crate) mod plain;
pub(crate) mod printable;
pub(crate) mod scan;
pub(crate) mod tree_cost;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;

/// A deserialized string that borrows from the input if the deserializer can lend it. A plain `Cow` always copies.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'a> Text<'a> {
    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, still borrowed if it was.
    #[inline]
    pub fn into_cow(self) -> Cow<'a, str> {
        self.0
    }

    /// The text, copied if it was borrowed.
    #[inline]
    pub fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl From<Text<'_>> for Arc<str> {
    fn from(text: Text<'_>) -> Self {
        text.as_str().into()
    }
}
