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
    /// Stores the params of a request that drafts extend, so that their additions can be decoded later.
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

    /// Returns the system prompt in the params of `session/new`, `session/load` or `session/resume`.
    ///
    /// # Errors
    ///
    /// "Invalid params" if the system prompt is malformed. Return this error to the client.
    pub fn system_prompt(&self) -> Result<Option<SystemPrompt>, Error> {
        let params = self.drafts.params.as_ref();
        let added = params.map_or(Ok(SystemPromptAddition::new()), RawJson::decode);
        added.map(|added: SystemPromptAddition| added.system_prompt).map_err(Error::invalid_params)
    }

    /// Returns which sessions `session/list` requests: archived ones, others, or all.
    ///
    /// # Errors
    ///
    /// "Invalid params" if the filter is malformed. Return this error to the client.
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

    /// Adds to the answer to `session/list` whether each session is archived. `sessions` are the archived ones;
    /// all others are not archived.
    pub fn report_archived<S: Into<SessionId>>(&self, sessions: impl IntoIterator<Item = S>) {
        self.drafts.report_archived(sessions.into_iter().map(Into::into).collect());
    }
}

/// Additions of drafts. Behind the feature `unstable`.
impl RemoteClient {
    /// `session/update`: sends an update that may be an addition of a draft. Fails without being sent if the client did not
    /// advertise the update's capability.
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

    /// `mcp/message`: calls a method of an MCP server that the client offered, each time with a new request id. Fails
    /// without being sent unless the agent advertised `mcpCapabilities.acp`.
    pub fn mcp_message(&self, request: MessageMcpRequest) -> Call<MessageMcpResponse> {
        if self.agent().is_some_and(takes_mcp) {
            return self.peer.call(&request);
        }
        let why = "the agent did not advertise the capability mcpCapabilities.acp";
        self.peer.refuse_call(CallError::not_allowed(MessageMcpRequest::NAME, why))
    }

    /// `auth/status_update`: reports that the authentication status has changed. Fails without being sent unless
    /// the agent advertised `auth.status`.
    pub fn auth_status_update(&self, notification: AuthStatusUpdateNotification) -> Notify<'_> {
        if self.agent().is_some_and(has_auth_status) {
            return self.peer.notify(&notification);
        }
        let why = "the agent did not advertise the capability auth.status";
        self.peer.refuse_notify(CallError::not_allowed(AuthStatusUpdateNotification::NAME, why))
    }

    /// Returns the capabilities that this agent has advertised.
    pub(super) fn agent(&self) -> Option<&AgentCapabilities> {
        self.state.handshake.get().map(|handshake| &handshake.agent.agent_capabilities)
    }
}
