//! The params of `logging/setLevel` and `notifications/message`, and the log levels in order of severity.

use agentwire_jsonrpc::RawJson;
use agentwire_wire_derive::Wire;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::Meta;

/// How grave a log message is, the levels of RFC 5424, least first.
///
/// One that we do not know compares greater than all, so that no filter drops it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// For debugging the server.
    #[wire("debug")]
    Debug,
    /// It goes as it should.
    #[wire("info")]
    Info,
    /// As it should, but worth a note.
    #[wire("notice")]
    Notice,
    /// Something may go wrong.
    #[wire("warning")]
    Warning,
    /// Something went wrong.
    #[wire("error")]
    Error,
    /// A part fails.
    #[wire("critical")]
    Critical,
    /// Someone must act now.
    #[wire("alert")]
    Alert,
    /// Nothing works.
    #[wire("emergency")]
    Emergency,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

/// Asks the server to send log messages from that level upwards.
///
/// Reading one with a level that is none fails: the server answers `-32602`.
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
    /// How grave it is.
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
