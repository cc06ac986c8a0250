//! The checks of ACP clients, in the order of the requirements.

use super::{AcpClient, client_methods, connection, remote, session, turn, v2};
use crate::check::{Check, Running};

/// All checks.
pub(crate) const CHECKS: &[&[Check<AcpClient>]] = &[
    connection::transport::CHECKS,
    connection::jsonrpc::CHECKS,
    connection::lenient::CHECKS,
    connection::initialization::CHECKS,
    connection::authentication::CHECKS,
    session::CHECKS,
    session::mcp_over_acp::CHECKS,
    session::list::CHECKS,
    turn::prompt::CHECKS,
    turn::tool_calls::CHECKS,
    client_methods::files::CHECKS,
    client_methods::terminals::CHECKS,
    session::options::CHECKS,
    turn::content::CHECKS,
    client_methods::elicitation::CHECKS,
    turn::updates::CHECKS,
    remote::CHECKS,
    v2::CHECKS,
];

/// A conversation with something of everything, for audits and their mutants.
pub(crate) fn plain_conversation(client: AcpClient) -> Running {
    Box::pin(super::plain::converse(client))
}
