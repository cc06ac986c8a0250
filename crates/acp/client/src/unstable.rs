//! The drafts that extend version 1. They may change and disappear.
//!
//! A feature must not change a trait, so drafts add only [`AgentHandle::drafts`], the handle for requests to an agent. Messages of
//! the agent arrive like any unknown message, in [`extension_request`](crate::Client::extension_request) and
//! [`extension_notification`](crate::Client::extension_notification); [`mcp_message`] and [`auth_status_update`] decode them.
//! An update of a kind that drafts add is a [`SessionUpdate::Unknown`](agentwire_acp_schema::v1::SessionUpdate), which
//! converts into [`unstable::SessionUpdate`](agentwire_acp_schema::v1::unstable::SessionUpdate). Types such as
//! [`ClientCapabilitiesAdditions`](agentwire_acp_schema::v1::unstable::ClientCapabilitiesAdditions) add capabilities.
//!
//! ```no_run
//! use agentwire_acp_client::{AgentHandle, CallError};
//! use agentwire_acp_schema::v1::unstable::{ForkSessionRequest, SetSessionTitleRequest};
//!
//! # async fn run(agent: &AgentHandle) -> Result<(), CallError> {
//! let forked = agent.drafts().fork_session(ForkSessionRequest::new("session-1", "/repo")).await?;
//! agent.drafts().set_session_title(SetSessionTitleRequest::new(forked.session_id, "Another way")).await?;
//! # Ok(())
//! # }
//! ```

use std::path::{Path, PathBuf};

use agentwire_acp_schema::v1::unstable::{
    AgentAuthCapabilitiesAdditions, AgentCapabilitiesAdditions, ArchiveSessionRequest,
    ArchiveSessionResponse, AuthStatusRequest, AuthStatusResponse, DisableProviderRequest,
    DisableProviderResponse, ForkSessionRequest, ForkSessionResponse, ListProvidersRequest,
    ListProvidersResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    McpCapabilitiesAdditions, MessageMcpNotification, NewSessionRequest, PromptRequest, PromptResponse,
    ResumeSessionRequest, SessionCapabilitiesAdditions, SessionStatusRequest, SessionStatusResponse,
    SetProviderRequest, SetProviderResponse, SetSessionTitleRequest, SetSessionTitleResponse,
    UnarchiveSessionRequest, UnarchiveSessionResponse,
};
use agentwire_acp_schema::v1::{InitializeResponse, LoadSessionResponse, McpServer};
use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_peer::{Call, Notify};

use crate::rules::absolute;
use crate::{AgentHandle, PromptCall};

pub use crate::drafts::{auth_status_update, mcp_message};

const SESSION: &str = "sessionCapabilities";
const MCP: &str = "mcpCapabilities.acp";

// Defines `Drafts`, `advertised` and `system_prompt`, which are the same in both versions. It uses the imports, and the constants
// and private functions below, in which the versions differ.
crate::drafts::drafts! {}

impl Drafts {
    /// `session/load` with what drafts add, such as a system prompt.
    pub fn load_session(&self, request: LoadSessionRequest) -> Call<LoadSessionResponse> {
        let call = self.checked(&request, |agent| {
            crate::rules::advertised("loadSession", agent.agent_capabilities.load_session)?;
            system_prompt(request.added.system_prompt.is_some(), agent)?;
            let setup = &request.stable;
            set_up(&setup.cwd, &setup.additional_directories, &setup.mcp_servers, agent)
        });
        self.agent.remember(Some(request.stable.session_id), call)
    }

    /// Sends a `session/prompt` whose answer holds the number of tokens that the turn has used.
    pub fn prompt(&self, request: PromptRequest) -> PromptCall<PromptResponse> {
        self.agent.prompt_by(&request, &request.stable)
    }
}

fn auth(agent: &InitializeResponse) -> AgentAuthCapabilitiesAdditions {
    AgentAuthCapabilitiesAdditions::of(&agent.agent_capabilities.auth.extra)
}

fn has_providers(agent: &InitializeResponse) -> bool {
    AgentCapabilitiesAdditions::of(&agent.agent_capabilities.extra).providers.is_some()
}

fn session(agent: &InitializeResponse) -> SessionCapabilitiesAdditions {
    SessionCapabilitiesAdditions::of(&agent.agent_capabilities.session_capabilities.extra)
}

fn takes_mcp(agent: &InitializeResponse) -> bool {
    McpCapabilitiesAdditions::of(&agent.agent_capabilities.mcp_capabilities.extra).acp
}

fn resumes(agent: &InitializeResponse) -> Result<(), String> {
    advertised(SESSION, "resume", agent.agent_capabilities.session_capabilities.resume.is_some())
}

fn lists(agent: &InitializeResponse) -> Result<(), String> {
    advertised(SESSION, "list", agent.agent_capabilities.session_capabilities.list.is_some())
}

fn set_up(
    cwd: &Path,
    directories: &[PathBuf],
    servers: &[McpServer],
    agent: &InitializeResponse,
) -> Result<(), String> {
    crate::rules::session_setup(cwd, directories, servers, &agent.agent_capabilities)
}
