//! Decoding results within the limit on memory.

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{RawJson, TreeCost};
use agentwire_mcp_schema::ResultType;
use agentwire_peer::CallError;
use bytestring::ByteString;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

/// The memory in bytes that one decoded message may take, unless the client sets another limit: 32 MiB.
pub(crate) const DEFAULT_VALUE_LIMIT: usize = 32 * 1024 * 1024;

/// The members of a result that stay text.
const RAW: [&str; 2] = ["structuredContent", "_meta"];

/// From this length in bytes on, a text is converted at once, so that it is not held in two forms.
const EAGER_REPAIR_LENGTH: usize = 1 << 20;

/// Returns the text of a result, to be decoded later. A long text gets its half surrogate pairs replaced here (see
/// [`RawJson::with_whole_pairs`]), because the text that came in is dropped right after.
#[expect(clippy::unnecessary_wraps, reason = "other ways to read a result can fail")]
pub(crate) fn as_text(result: &RawJson) -> Result<RawJson, serde_json::Error> {
    let result = result.clone();
    Ok(if result.len() < EAGER_REPAIR_LENGTH { result } else { result.with_whole_pairs() })
}

/// Decodes a result, unless that takes more memory than the limit. Leaves out unreadable parts if the result is usable without
/// them. Some servers send null where the protocol requires an empty object.
pub(crate) fn decode<R: DeserializeOwned>(result: &RawJson, limit: usize) -> Result<R, serde_json::Error> {
    check(result, limit)?;
    match result.decode_leniently() {
        Err(_) if result.is_null() => RawJson::EMPTY_OBJECT.decode(),
        decoded => decoded,
    }
}

/// Decodes with the default limit, before the handshake is over.
pub(crate) fn decode_by_default<R: DeserializeOwned>(result: &RawJson) -> Result<R, serde_json::Error> {
    decode(result, DEFAULT_VALUE_LIMIT)
}

/// Fails if a decoded message would take more memory than the limit.
pub(crate) fn check(text: &RawJson, limit: usize) -> Result<(), serde_json::Error> {
    // Nearly every text is too short to reach the limit, and is not scanned.
    if text.len() <= limit / TreeCost::MAX_PER_BYTE {
        return Ok(());
    }
    let bytes = match text.as_str().starts_with('{') {
        true => {
            let members = Members::of(text.as_str()).filter(|(name, _)| !RAW.contains(&&**name));
            members.map(|(_, value)| TreeCost::of(value).bytes).sum()
        }
        false => TreeCost::of(text.as_str()).bytes,
    };
    if bytes <= limit {
        return Ok(());
    }
    let why = format_args!("it takes more than {limit} bytes of memory (Client::value_limit)");
    Err(serde_json::Error::custom(why))
}

/// The kind of result, which modern servers name in `resultType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultKind {
    /// The answer.
    Complete,
    /// Questions of the server.
    InputRequired,
    /// The server works on the request as a task.
    Task,
    /// A kind that this client does not know.
    Unknown,
}

/// The kind of a modern server's result.
pub(crate) fn kind_of(result: &RawJson) -> Result<ResultKind, serde_json::Error> {
    // Some servers send null where the protocol wants an empty object.
    let result = if result.is_null() { &RawJson::EMPTY_OBJECT } else { result };
    Ok(match ResultType::of(result)? {
        None | Some(ResultType::Complete) => ResultKind::Complete,
        Some(ResultType::InputRequired) => ResultKind::InputRequired,
        Some(ResultType::Task) => ResultKind::Task,
        _ => ResultKind::Unknown,
    })
}

/// A modern server's result for a request that needs a complete one.
pub(crate) enum Completed<R> {
    /// The result.
    Complete(R),
    /// A result of another kind.
    Other(ResultKind),
}

/// Decodes such a result, with the default limit.
pub(crate) fn completed<R: DeserializeOwned>(result: &RawJson) -> Result<Completed<R>, serde_json::Error> {
    check(result, DEFAULT_VALUE_LIMIT)?;
    Ok(match kind_of(result)? {
        ResultKind::Complete => Completed::Complete(decode_by_default(result)?),
        other => Completed::Other(other),
    })
}

impl<'de, R: DeserializeOwned> Deserialize<'de> for Completed<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        completed(&RawJson::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<R> Completed<R> {
    /// Returns the result, or an error for any other kind.
    pub(crate) fn into_result(self, method: &'static str) -> Result<R, CallError> {
        let why = match self {
            Self::Complete(result) => return Ok(result),
            Self::Other(ResultKind::InputRequired) => {
                "the server asks a question where the protocol does not allow it"
            }
            Self::Other(ResultKind::Task) => {
                "the server answers with a task where the protocol does not allow it"
            }
            Self::Other(ResultKind::Complete | ResultKind::Unknown) => UNKNOWN_KIND,
        };
        Err(CallError::unusable(ByteString::from_static(method), why))
    }
}

/// Why an unknown kind of result is an error.
pub(crate) const UNKNOWN_KIND: &str =
    "the server answers with a kind of result that this client does not know";

pub(crate) fn malformed(method: ByteString, why: &serde_json::Error) -> CallError {
    CallError::malformed(method, why.to_string())
}
