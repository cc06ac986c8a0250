use agentwire_jsonrpc::RawJson;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

/// A result with its text, for what looks at more of it than its type has.
#[derive(Debug)]
pub(crate) struct Kept<R> {
    pub(crate) result: R,
    pub(crate) text: RawJson,
}

impl<'de, R: DeserializeOwned> Deserialize<'de> for Kept<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = RawJson::deserialize(deserializer)?;
        Ok(Self { result: text.decode().map_err(D::Error::custom)?, text })
    }
}
