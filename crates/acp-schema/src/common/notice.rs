use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// The update `notice`: something to tell the person now. It is no part of the conversation, is not replayed, and
/// nobody knows whether it was seen. In version 1 only for clients with the capability `session.notices`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Notice {
    /// How loudly to say it.
    #[wire(required)]
    pub severity: NoticeSeverity,
    /// The message in plain text, not empty, understandable alone.
    #[wire(required, schema(length(min = 1)))]
    pub title: String,
    /// More of it in plain text.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// How loudly to say a notice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum NoticeSeverity {
    /// For information.
    #[wire("info")]
    Info,
    /// A warning.
    #[wire("warning")]
    Warning,
    /// An error.
    #[wire("error")]
    Error,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}
