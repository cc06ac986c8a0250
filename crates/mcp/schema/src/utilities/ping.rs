//! The params of `ping`, and `EmptyResult`, which other methods without result members share.

use agentwire_wire_derive::Wire;

use crate::Meta;

/// Asks whether the other side is still there. Either side may, at any time, also before `initialize`.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping>.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct PingRequest {
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

empty!(PingRequest);
setters!(PingRequest {
    some meta: Meta,
});

/// An empty result: the request was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct EmptyResult {
    /// The kind of this result; absent means complete. Since 2026-07-28.
    #[wire(optional)]
    pub result_type: Option<crate::ResultType>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

empty!(EmptyResult);
setters!(EmptyResult {
    some result_type: crate::ResultType,
    some meta: Meta,
});

has_meta!(PingRequest, EmptyResult);
