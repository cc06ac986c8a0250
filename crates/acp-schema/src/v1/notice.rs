use serde::{Deserialize, Serialize};

use crate::common::lenient::lenient;
use crate::common::{Meta, builder, open_enum};

/// The update `notice`: something to tell the person now. It is no part of the conversation, is not replayed, and
/// nobody knows whether it was seen. Only for clients with the capability `session.notices`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Notice {
    /// How loudly to say it.
    pub severity: NoticeSeverity,
    /// The message in plain text, not empty, understandable alone.
    pub title: String,
    /// More of it in plain text.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    Notice::new(severity: NoticeSeverity, title: String) {
        option description: String,
        option meta: Meta,
    }
}

open_enum! {
    /// How loudly to say a notice.
    NoticeSeverity {
        /// For information.
        Info = "info",
        /// A warning.
        Warning = "warning",
        /// An error.
        Error = "error",
    } else Other
}
