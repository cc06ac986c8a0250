//! The additions of drafts to [`Context`] and [`RemoteClient`].

use agentwire_acp_schema::v1::unstable::{
    ArchiveFilterAddition, AuthStatusUpdateNotification, ClientCapabilitiesAdditions, MessageMcpRequest,
    MessageMcpResponse, SessionArchiveFilter, SessionUpdate, SystemPrompt, SystemPromptAddition, Usage,
};
use agentwire_acp_schema::v1::{self, AgentCapabilities, SessionId, SessionNotification};
use agentwire_jsonrpc::{NotificationMethod, RawJson, RequestMethod};
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{Call, CallError, Notify};

use super::{has_auth_status, takes_mcp};
use crate::outgoing::not_advertised;
use crate::{Context, Error, RemoteClient};

/// Additions of drafts. Behind the feature `unstable`.
impl Context {
    /// Keeps the params of a request that drafts extend, so that they can be decoded later.
    pub(crate) fn with_params(mut self, method: &str, params: Option<&RawJson>) -> Self {
        if matches!(
            method,
            v1::NewSessionRequest::NAME
                | v1::LoadSessionRequest::NAME
                | v1::ResumeSessionRequest::NAME
                | v1::ListSessionsRequest::NAME
        ) {
            self.drafts.params = params.cloned();
        }
        self
    }

    /// Returns the instructions of `session/new`, `session/load` or `session/resume`.
    ///
    /// # Errors
    ///
    /// "Invalid params", to be passed on to the client, when they cannot be read.
    pub fn system_prompt(&self) -> Result<Option<SystemPrompt>, Error> {
        let params = self.drafts.params.as_ref();
        let added = params.map_or(Ok(SystemPromptAddition::new()), RawJson::decode);
        added.map(|added: SystemPromptAddition| added.system_prompt).map_err(Error::invalid_params)
    }

    /// The sessions that `session/list` asks for, by whether they are archived.
    ///
    /// # Errors
    ///
    /// "Invalid params", to be passed on to the client, when that cannot be read.
    pub fn archive_filter(&self) -> Result<SessionArchiveFilter, Error> {
        let params = self.drafts.params.as_ref();
        let added = params.map_or(Ok(ArchiveFilterAddition::new()), RawJson::decode);
        let added: ArchiveFilterAddition = added.map_err(Error::invalid_params)?;
        Ok(added.archived.unwrap_or(SessionArchiveFilter::Exclude))
    }

    /// Adds the number of tokens that the turn has used to the answer to `session/prompt`.
    pub fn report_usage(&self, usage: Usage) {
        self.drafts.report_usage(usage);
    }

    /// Adds to the answer to `session/list` whether each session is archived. The named sessions are; the others are
    /// not.
    pub fn report_archived<S: Into<SessionId>>(&self, sessions: impl IntoIterator<Item = S>) {
        self.drafts.report_archived(sessions.into_iter().map(Into::into).collect());
    }
}

/// Additions of drafts. Behind the feature `unstable`.
impl RemoteClient {
    /// `session/update` with an update that drafts may have added. Refused without being sent where the client did not
    /// advertise that it takes it.
    pub fn draft_update(
        &self,
        session_id: impl Into<SessionId>,
        update: impl Into<SessionUpdate>,
    ) -> Notify<'_> {
        let update = update.into();
        let can =
            self.capabilities().map(|can| ClientCapabilitiesAdditions::of(&can.extra)).unwrap_or_default();
        let missing = match &update {
            SessionUpdate::PlanUpdate(_) | SessionUpdate::PlanRemoved(_) if can.plan.is_none() => {
                Some("plan")
            }
            SessionUpdate::SubagentUpdate(_)
            | SessionUpdate::SessionMessage(_)
            | SessionUpdate::SessionMessageChunk(_)
                if can.subagents.is_none() =>
            {
                Some("subagents")
            }
            _ => None,
        };
        let refuse = |why| self.peer.refuse_notify(CallError::not_allowed(SessionNotification::NAME, why));
        match (missing, v1::SessionUpdate::try_from(update)) {
            (Some(missing), _) => refuse(not_advertised(missing)),
            (None, Ok(update)) => self.session_update(SessionNotification::new(session_id, update)),
            (None, Err(why)) => refuse(why.to_string()),
        }
    }

    /// `mcp/message`: calls a method of an MCP server that the client offered, each time under an id of its own. Only
    /// where the agent advertised `mcpCapabilities.acp`.
    pub fn mcp_message(&self, request: MessageMcpRequest) -> Call<MessageMcpResponse> {
        if self.agent().is_some_and(takes_mcp) {
            return self.peer.call(&request);
        }
        let why = "the agent did not advertise the capability mcpCapabilities.acp";
        self.peer.refuse_call(CallError::not_allowed(MessageMcpRequest::NAME, why))
    }

    /// `auth/status_update`: reports that the authentication status has changed. Only where the agent advertised
    /// `auth.status`.
    pub fn auth_status_update(&self, notification: AuthStatusUpdateNotification) -> Notify<'_> {
        if self.agent().is_some_and(has_auth_status) {
            return self.peer.notify(&notification);
        }
        let why = "the agent did not advertise the capability auth.status";
        self.peer.refuse_notify(CallError::not_allowed(AuthStatusUpdateNotification::NAME, why))
    }

    /// Returns the agent's capabilities.
    pub(super) fn agent(&self) -> Option<&AgentCapabilities> {
        self.state.handshake.get().map(|handshake| &handshake.agent.agent_capabilities)
    }
}
