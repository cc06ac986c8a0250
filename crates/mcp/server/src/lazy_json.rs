//! JSON text that is decoded on first use.

use std::sync::OnceLock;

use agentwire_jsonrpc::RawJson;
use serde::de::DeserializeOwned;

/// JSON text that is decoded on first use.
pub(crate) struct LazyJson<T> {
    text: RawJson,
    value: OnceLock<Option<T>>,
}

impl<T: DeserializeOwned> LazyJson<T> {
    pub(crate) fn new(text: RawJson) -> Self {
        Self { text, value: OnceLock::new() }
    }

    /// Wraps a value that is already decoded.
    pub(crate) fn decoded(value: T) -> Self {
        Self { text: RawJson::EMPTY_OBJECT, value: OnceLock::from(Some(value)) }
    }

    /// The value; `None` if the JSON does not decode as a `T`.
    pub(crate) fn value(&self) -> Option<&T> {
        self.value.get_or_init(|| self.text.decode_leniently().ok()).as_ref()
    }
}
