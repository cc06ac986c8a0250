//! The checks of ACP agents, in the order of the requirements.

use super::{
    Agent, authentication, cancellation, content, elicitation, files, initialization, jsonrpc, mcp_over_acp,
    mcp_servers, messages, options, prompt, remote, session, session_list, terminals, tool_calls, transport,
    updates, v2, v2_cancel, v2_close, v2_refusals, v2_updates, v2_work,
};
use crate::check::Check;

/// All checks.
pub(crate) const CHECKS: &[&[Check<Agent>]] = &[
    transport::CHECKS,
    jsonrpc::CHECKS,
    messages::CHECKS,
    initialization::CHECKS,
    authentication::CHECKS,
    session::CHECKS,
    mcp_servers::CHECKS,
    mcp_over_acp::CHECKS,
    session_list::CHECKS,
    prompt::CHECKS,
    cancellation::CHECKS,
    tool_calls::CHECKS,
    files::CHECKS,
    terminals::CHECKS,
    options::CHECKS,
    content::CHECKS,
    elicitation::CHECKS,
    updates::CHECKS,
    remote::posts::CHECKS,
    remote::streams::CHECKS,
    remote::websocket::CHECKS,
    v2::CHECKS,
    v2_close::CHECKS,
    v2_work::CHECKS,
    v2_cancel::CHECKS,
    v2_updates::CHECKS,
    v2_refusals::CHECKS,
];
