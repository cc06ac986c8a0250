//! The checks of ACP agents, in the order of the requirements.

use super::{Agent, client_methods, connection, messages, remote, session, turn, v2};
use crate::check::Check;

/// All checks.
pub(crate) const CHECKS: &[&[Check<Agent>]] = &[
    connection::transport::CHECKS,
    connection::jsonrpc::CHECKS,
    messages::CHECKS,
    connection::initialization::CHECKS,
    connection::authentication::CHECKS,
    session::CHECKS,
    session::mcp_servers::CHECKS,
    session::mcp_over_acp::CHECKS,
    session::list::CHECKS,
    turn::prompt::CHECKS,
    turn::cancellation::CHECKS,
    turn::tool_calls::CHECKS,
    client_methods::files::CHECKS,
    client_methods::terminals::CHECKS,
    session::options::CHECKS,
    turn::content::CHECKS,
    client_methods::elicitation::CHECKS,
    turn::updates::CHECKS,
    remote::posts::CHECKS,
    remote::streams::CHECKS,
    remote::websocket::CHECKS,
    v2::CHECKS,
    v2::close::CHECKS,
    v2::work::CHECKS,
    v2::cancel::CHECKS,
    v2::updates::CHECKS,
    v2::refusals::CHECKS,
];
