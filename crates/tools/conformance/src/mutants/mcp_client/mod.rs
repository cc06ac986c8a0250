//! Mutants of MCP clients that need code.

pub(crate) mod caching;
pub(crate) mod cancellation;
pub(crate) mod http_sse;
pub(crate) mod input_required;
pub(crate) mod jsonrpc;
pub(crate) mod lifecycle;
pub(crate) mod modern_http;
pub(crate) mod pagination;
pub(crate) mod stdio;
pub(crate) mod streamable_http;
pub(crate) mod subscriptions;
pub(crate) mod tasks;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[&[Mutant]]] = &[
    &[
        caching::MUTANTS,
        cancellation::MUTANTS,
        input_required::MUTANTS,
        pagination::MUTANTS,
        stdio::MUTANTS,
        subscriptions::MUTANTS,
        tasks::MUTANTS,
    ],
    http_sse::MUTANTS,
    jsonrpc::MUTANTS,
    lifecycle::MUTANTS,
    modern_http::MUTANTS,
    streamable_http::MUTANTS,
];
