//! The `session/update` variant `notice`, and its severity.

use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// The update `notice`: a message to show to the person now.
///
/// It is not part of the conversation, is not replayed, and the agent does not learn whether the person saw it. In version 1
/// only for clients with the capability `session.notices`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Notice {
    /// Its severity.
    #[wire(required)]
    pub severity: NoticeSeverity,
    /// The message in plain text, not empty, understandable alone.
    #[wire(required, schema(length(min = 1)))]
    pub title: String,
    /// More of it in plain text.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The severity of a notice.
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
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}
