use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// A program that speaks ACP: its name and version.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Implementation {
    /// The name that programs use, shown where there is no title.
    #[wire(required)]
    pub name: String,
    /// The name that people see.
    #[wire(lenient)]
    pub title: Option<String>,
    /// The version, such as `1.0.0`: to show and to log, not to compare.
    #[wire(required)]
    pub version: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
