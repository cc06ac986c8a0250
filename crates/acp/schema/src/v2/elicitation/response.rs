//! The result of `elicitation/create`. A field value of an unknown type is kept as raw JSON.

use agentwire_jsonrpc::RawJson;
use serde::{Deserialize, Deserializer};

use crate::common::elicitation_response_types;

elicitation_response_types! {
    unknown values: {
        /// A value of another type, such as that of a field whose type this version does not know.
        Other(RawJson),
    }
}

impl<'de> Deserialize<'de> for ElicitationContentValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = RawJson::deserialize(deserializer)?;
        let known = match value.as_str().as_bytes().first() {
            Some(b'"') => value.decode().map(Self::String),
            Some(b't' | b'f') => value.decode().map(Self::Boolean),
            Some(b'[') => value.decode().map(Self::StringArray),
            Some(b'{' | b'n') | None => return Ok(Self::Other(value)),
            Some(_) => value.decode().map(Self::Integer).or_else(|_| value.decode().map(Self::Number)),
        };
        Ok(known.unwrap_or(Self::Other(value)))
    }
}
