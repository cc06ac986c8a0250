//! HTTP headers and environment variables of MCP servers. `terminal/create` in version 1 and `authMethods` in version 2 use the
//! variables too.

use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// An HTTP header.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct HttpHeader {
    /// Its name.
    #[wire(required)]
    pub name: String,
    /// Its value.
    #[wire(required)]
    pub value: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// An environment variable.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct EnvVariable {
    /// Its name.
    #[wire(required)]
    pub name: String,
    /// Its value.
    #[wire(required)]
    pub value: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
