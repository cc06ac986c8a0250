//! The checks of ACP clients, in the order of the requirements.

use super::{
    AcpClient, authentication, content, elicitation, files, initialization, jsonrpc, lenient, mcp_over_acp,
    options, prompt, remote, session, session_list, terminals, tool_calls, transport, updates, v2,
};
use crate::check::{Check, Running};

/// All checks.
pub(crate) const CHECKS: &[&[Check<AcpClient>]] = &[
    transport::CHECKS,
    jsonrpc::CHECKS,
    lenient::CHECKS,
    initialization::CHECKS,
    authentication::CHECKS,
    session::CHECKS,
    mcp_over_acp::CHECKS,
    session_list::CHECKS,
    prompt::CHECKS,
    tool_calls::CHECKS,
    files::CHECKS,
    terminals::CHECKS,
    options::CHECKS,
    content::CHECKS,
    elicitation::CHECKS,
    updates::CHECKS,
    remote::CHECKS,
    v2::CHECKS,
];

/// A conversation with something of everything, for audits and their mutants.
pub(crate) fn plain_conversation(client: AcpClient) -> Running {
    Box::pin(super::plain::converse(client))
}
