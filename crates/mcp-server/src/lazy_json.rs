use std::sync::OnceLock;

use agentwire_jsonrpc::read;
use serde::de::DeserializeOwned;

/// JSON text that is decoded on first use.
pub(crate) struct LazyJson<T> {
    text: Box<str>,
    value: OnceLock<Option<T>>,
}

impl<T: DeserializeOwned> LazyJson<T> {
    /// JSON that is copied, because the message it came in is not kept.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.into(), value: OnceLock::new() }
    }

    /// What had to be decoded.
    pub(crate) fn decoded(value: T) -> Self {
        Self { text: Box::default(), value: OnceLock::from(Some(value)) }
    }

    /// The value; none where the JSON is not what such a value is written as.
    pub(crate) fn value(&self) -> Option<&T> {
        self.value.get_or_init(|| read(&self.text).ok()).as_ref()
    }
}
