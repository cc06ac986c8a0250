//! The name, title and version that client and agent exchange in `initialize`.

use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// A program that speaks ACP: its name and version.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Implementation {
    /// The name for programs, shown if there is no title.
    #[wire(required)]
    pub name: String,
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// The version, such as `1.0.0`. Show or log it; do not compare it.
    #[wire(required)]
    pub version: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
