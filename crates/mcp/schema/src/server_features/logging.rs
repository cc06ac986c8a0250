//! The params of `logging/setLevel` and `notifications/message`, and the log levels in order of severity.

use agentwire_jsonrpc::RawJson;
use agentwire_wire_derive::Wire;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::Meta;

/// The severity of a log message: the levels of RFC 5424, least first.
///
/// An unknown level compares greater than all, so that no filter drops it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// For debugging the server.
    #[wire("debug")]
    Debug,
    /// Normal operation.
    #[wire("info")]
    Info,
    /// Normal, but significant.
    #[wire("notice")]
    Notice,
    /// A possible problem.
    #[wire("warning")]
    Warning,
    /// A failure.
    #[wire("error")]
    Error,
    /// A part of the system fails.
    #[wire("critical")]
    Critical,
    /// A person must act at once.
    #[wire("alert")]
    Alert,
    /// The system is unusable.
    #[wire("emergency")]
    Emergency,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

/// Asks the server to send log messages from that level upwards.
///
/// Reading fails if the level is unknown: the server answers `-32602`.
/// See <https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging>.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct SetLevelRequest {
    /// The least level to send.
    #[wire(required, read = known_level)]
    pub level: LoggingLevel,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl SetLevelRequest {
    /// From that level upwards.
    pub fn new(level: LoggingLevel) -> Self {
        Self { level, meta: None }
    }
}

setters!(SetLevelRequest {
    some meta: Meta,
});

fn known_level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LoggingLevel, D::Error> {
    let level = LoggingLevel::deserialize(deserializer)?;
    if level.is_known() {
        Ok(level)
    } else {
        Err(D::Error::custom(format_args!("`{level}` is not a logging level")))
    }
}

/// A line of the server's log.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct LoggingMessageNotification {
    /// Its severity.
    #[wire(required)]
    pub level: LoggingLevel,
    /// The part of the server that logs.
    #[wire(optional)]
    pub logger: Option<String>,
    /// The data, any JSON: a string, or an object with details.
    #[wire(required, schema(with = "serde_json::Value"))]
    pub data: RawJson,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl LoggingMessageNotification {
    /// A message with any data.
    pub fn new(level: LoggingLevel, data: RawJson) -> Self {
        Self { level, logger: None, data, meta: None }
    }

    /// A message that is a sentence.
    pub fn from_text(level: LoggingLevel, text: &str) -> Self {
        Self::new(level, RawJson::encode(text).expect("a string always has a JSON form"))
    }
}

setters!(LoggingMessageNotification {
    some logger: String,
    some meta: Meta,
});

has_meta!(SetLevelRequest, LoggingMessageNotification);
