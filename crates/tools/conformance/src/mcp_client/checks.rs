//! The checks of MCP clients, in the order of the requirements.

use super::{
    McpClient, caching, cancellation, http_sse, input_required, jsonrpc, lifecycle, logging, modern_http,
    pagination, ping, progress, stdio, streamable_http, subscriptions, tasks,
};
use crate::check::{Check, Running};

/// All checks.
pub(crate) const CHECKS: &[&[Check<McpClient>]] = &[
    jsonrpc::audits::CHECKS,
    jsonrpc::meta::CHECKS,
    jsonrpc::requests::CHECKS,
    jsonrpc::malformed::CHECKS,
    jsonrpc::batches::CHECKS,
    jsonrpc::results::CHECKS,
    jsonrpc::schemas::CHECKS,
    lifecycle::opening::CHECKS,
    lifecycle::revisions::CHECKS,
    lifecycle::times::CHECKS,
    lifecycle::end::CHECKS,
    stdio::CHECKS,
    http_sse::CHECKS,
    http_sse::fallback::CHECKS,
    streamable_http::CHECKS,
    streamable_http::sessions::CHECKS,
    streamable_http::streams::CHECKS,
    streamable_http::failures::CHECKS,
    modern_http::CHECKS,
    modern_http::headers::CHECKS,
    modern_http::tools::CHECKS,
    modern_http::streams::CHECKS,
    modern_http::versions::CHECKS,
    cancellation::CHECKS,
    progress::CHECKS,
    ping::CHECKS,
    pagination::CHECKS,
    logging::CHECKS,
    subscriptions::CHECKS,
    input_required::CHECKS,
    caching::CHECKS,
    tasks::CHECKS,
];

/// A plain conversation, for audits and their mutants.
pub(crate) fn plain_conversation(client: McpClient) -> Running {
    Box::pin(super::plain::converse(client))
}
