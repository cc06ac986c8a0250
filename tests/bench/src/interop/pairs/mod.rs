//! The pairs: what each side does, and what the other must have understood.

mod agent;
mod chain;
mod client;
pub(super) mod login;
mod mcp_client;
mod mcp_client_http;
mod mcp_questions;
mod mcp_server;
mod mcp_server_auth;

use super::pair::Pair;
use super::products;

/// All pairs, in the order in which they begin.
pub(super) fn all() -> Vec<Pair> {
    let groups = [
        client::pairs(),
        products::pairs(),
        agent::pairs(),
        agent::kept(),
        mcp_client::pairs(),
        mcp_client_http::pairs(),
        mcp_questions::pairs(),
        mcp_server::pairs(),
        login::pairs(),
        mcp_server_auth::pairs(),
        chain::pairs(),
    ];
    groups.into_iter().flatten().collect()
}
