//! Decodes the JSON that nodes have stored.

use agentwire_store::StoreError;
use serde::de::DeserializeOwned;

/// Decodes JSON from the engine.
pub(crate) fn decode<T: DeserializeOwned>(text: &[u8]) -> Result<T, StoreError> {
    // read: a node has encoded it from decoded values.
    serde_json::from_slice(text).map_err(StoreError::damaged)
}
