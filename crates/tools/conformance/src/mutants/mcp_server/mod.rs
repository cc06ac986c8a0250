//! Mutants of MCP servers that need code.

pub(crate) mod cancellation;
pub(crate) mod completion;
pub(crate) mod http_sse;
pub(crate) mod input_required;
pub(crate) mod jsonrpc;
pub(crate) mod logging;
pub(crate) mod modern_http;
pub(crate) mod progress;
pub(crate) mod stdio;
pub(crate) mod streamable_http;
pub(crate) mod subscriptions;
pub(crate) mod tasks;
pub(crate) mod versions;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[&[Mutant]]] = &[
    &[
        cancellation::MUTANTS,
        completion::MUTANTS,
        http_sse::MUTANTS,
        input_required::MUTANTS,
        logging::MUTANTS,
        progress::MUTANTS,
        stdio::MUTANTS,
        subscriptions::MUTANTS,
        versions::MUTANTS,
    ],
    jsonrpc::MUTANTS,
    modern_http::MUTANTS,
    streamable_http::MUTANTS,
    tasks::MUTANTS,
];
