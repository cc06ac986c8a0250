use serde::Serialize;

use crate::wire::{number, optional_number};
use crate::{Meta, ProgressToken};

object! {
    /// How far a request has come, for whoever sent it and asked to know.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress>.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ProgressNotification {
        /// The token that came with the request.
        pub progress_token: ProgressToken,
        /// How far it is, in any unit. It grows with every notification.
        #[serde(serialize_with = "number")]
        pub progress: f64,
        /// How far it will go, in the same unit, if that is known.
        #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
        pub total: Option<f64>,
        /// What it is doing, for people. Since 2025-03-26.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub message: Option<String>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl ProgressNotification {
    /// The request with that token has come so far.
    pub fn new(progress_token: impl Into<ProgressToken>, progress: f64) -> Self {
        Self { progress_token: progress_token.into(), progress, total: None, message: None, meta: None }
    }
}

setters!(ProgressNotification {
    some total: f64,
    some message: String,
    some meta: Meta,
});

has_meta!(ProgressNotification);
