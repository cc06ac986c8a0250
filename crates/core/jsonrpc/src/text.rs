//! A deserialized string that borrows from the input where the deserializer lends it.

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

/// A string that borrows from the input where the input can lend it; `Cow` on its own always copies.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'a> Text<'a> {
    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, borrowed where it is.
    #[inline]
    pub fn into_cow(self) -> Cow<'a, str> {
        self.0
    }

    /// The text, copied where it is borrowed.
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
