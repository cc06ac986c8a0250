//! The drafts that extend version 2. They may change and disappear, as the version may.
//!
//! They are used as in version 1: [`AgentHandle::drafts`] for requests to an agent, [`mcp_message`] and
//! [`auth_status_update`] to decode its messages.

use agentwire_acp_schema::v2::unstable::{
    AgentAuthCapabilitiesAdditions, AgentCapabilitiesAdditions, ArchiveSessionRequest,
    ArchiveSessionResponse, AuthStatusRequest, AuthStatusResponse, DisableProviderRequest,
    DisableProviderResponse, ForkSessionRequest, ForkSessionResponse, ListProvidersRequest,
    ListProvidersResponse, ListSessionsRequest, ListSessionsResponse, McpCapabilitiesAdditions,
    MessageMcpNotification, NewSessionRequest, ResumeSessionRequest, SessionCapabilitiesAdditions,
    SessionStatusRequest, SessionStatusResponse, SetProviderRequest, SetProviderResponse,
    SetSessionTitleRequest, SetSessionTitleResponse, UnarchiveSessionRequest, UnarchiveSessionResponse,
};
use agentwire_acp_schema::v2::{AbsolutePath, InitializeResponse, McpServer};
use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_peer::{Call, Notify};

use super::{AgentHandle, rules};
use crate::rules::absolute;

pub use crate::drafts::{auth_status_update, mcp_message};

const SESSION: &str = "session";
const MCP: &str = "session.mcp.acp";

// Defines `Drafts`, `advertised` and `system_prompt`, which are the same in both versions. It uses the imports, and the constants
// and private functions below, in which the versions differ.
crate::drafts::drafts! {}

fn auth(agent: &InitializeResponse) -> AgentAuthCapabilitiesAdditions {
    let auth = agent.capabilities.auth.as_ref();
    auth.map(|auth| AgentAuthCapabilitiesAdditions::of(&auth.extra)).unwrap_or_default()
}

fn has_providers(agent: &InitializeResponse) -> bool {
    AgentCapabilitiesAdditions::of(&agent.capabilities.extra).providers.is_some()
}

fn session(agent: &InitializeResponse) -> SessionCapabilitiesAdditions {
    let session = agent.capabilities.session.as_ref();
    session.map(|session| SessionCapabilitiesAdditions::of(&session.extra)).unwrap_or_default()
}

fn takes_mcp(agent: &InitializeResponse) -> bool {
    let mcp = agent.capabilities.session.as_ref().and_then(|session| session.mcp.as_ref());
    mcp.is_some_and(|mcp| McpCapabilitiesAdditions::of(&mcp.extra).acp.is_some())
}

fn resumes(agent: &InitializeResponse) -> Result<(), String> {
    rules::sessions(&agent.capabilities).map(drop)
}

fn lists(agent: &InitializeResponse) -> Result<(), String> {
    rules::sessions(&agent.capabilities).map(drop)
}

fn set_up(
    cwd: &AbsolutePath,
    directories: &[AbsolutePath],
    servers: &[McpServer],
    agent: &InitializeResponse,
) -> Result<(), String> {
    rules::session_setup(cwd, directories, servers, &agent.capabilities)
}
