use agentwire_jsonrpc::RawJson;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Meta;

open_enum! {
    /// How grave a log message is, the levels of RFC 5424, least first.
    ///
    /// One that we do not know compares greater than all, so that no filter drops it.
    pub enum LoggingLevel {
        /// For whoever debugs the server.
        Debug = "debug",
        /// It goes as it should.
        Info = "info",
        /// As it should, but worth a note.
        Notice = "notice",
        /// Something may go wrong.
        Warning = "warning",
        /// Something went wrong.
        Error = "error",
        /// A part fails.
        Critical = "critical",
        /// Someone must act now.
        Alert = "alert",
        /// Nothing works.
        Emergency = "emergency",
    }
}

object! {
    /// Asks the server to send log messages from that level upwards.
    ///
    /// Reading one with a level that is none fails: the server answers `-32602`.
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging>.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct SetLevelRequest {
        /// The least level to send.
        #[serde(deserialize_with = "known_level")]
        pub level: LoggingLevel,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
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
        Err(D::Error::custom(format_args!("`{level}` is no logging level")))
    }
}

object! {
    /// A line of the server's log.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct LoggingMessageNotification {
        /// How grave it is.
        pub level: LoggingLevel,
        /// Which part of the server says it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub logger: Option<String>,
        /// What it says, any JSON: a string, or an object with details.
        #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
        pub data: RawJson,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
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
