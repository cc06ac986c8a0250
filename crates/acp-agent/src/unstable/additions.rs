use std::collections::BTreeSet;
use std::sync::Arc;

use agentwire_acp_schema::v1::unstable::{
    ArchiveFilterAddition, ArchivedAddition, AuthStatusUpdateNotification, ClientCapabilitiesAdditions,
    ListSessionsResponse, MessageMcpRequest, MessageMcpResponse, PromptResponse, SessionArchiveFilter,
    SessionInfo, SessionUpdate, SystemPrompt, SystemPromptAddition, Usage, UsageAddition,
};
use agentwire_acp_schema::v1::{self, AgentCapabilities, SessionId, SessionNotification};
use agentwire_jsonrpc::{NotificationMethod, RawJson, RequestMethod};
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{Call, CallError, Notify, Peer};
use agentwire_sync::{Mutex, MutexGuard};

use super::{has_auth_status, takes_mcp};
use crate::method::Method;
use crate::methods::Connection;
use crate::outgoing::not_advertised;
use crate::{Client, Context, Error};

/// What drafts add to one request and its answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drafts {
    /// The params of a request that drafts add to.
    pub(crate) params: Option<RawJson>,
    answer: Arc<Mutex<AnswerAdditions>>,
}

#[derive(Debug, Default)]
struct AnswerAdditions {
    usage: Option<Usage>,
    archived: Option<BTreeSet<SessionId>>,
}

impl Drafts {
    fn answer(&self) -> MutexGuard<'_, AnswerAdditions> {
        self.answer.lock()
    }

    /// Writes the answer to `session/prompt` with what drafts add to it.
    pub(crate) fn prompt_answer(
        &self,
        peer: &Peer,
        mut response: v1::PromptResponse,
        at: &Connection<'_>,
    ) -> Result<RawJson, Error> {
        let Some(usage) = self.answer().usage.take() else {
            return v1::PromptRequest::write(peer, response, at);
        };
        v1::PromptRequest::check_answer(&mut response, at).map_err(Error::internal_error)?;
        let response = PromptResponse::new(response, UsageAddition::new().usage(usage));
        peer.encode_answer(&response).map_err(Error::internal_error)
    }

    /// Writes the answer to `session/list` with what drafts add to it.
    pub(crate) fn list_answer(
        &self,
        peer: &Peer,
        mut response: v1::ListSessionsResponse,
        at: &Connection<'_>,
    ) -> Result<RawJson, Error> {
        let Some(archived) = self.answer().archived.take() else {
            return v1::ListSessionsRequest::write(peer, response, at);
        };
        v1::ListSessionsRequest::check_answer(&mut response, at).map_err(Error::internal_error)?;
        let sessions = response.sessions.into_iter().map(|session| {
            let is_archived = archived.contains(&session.session_id);
            SessionInfo::new(session, ArchivedAddition::new().archived(is_archived))
        });
        let mut list = ListSessionsResponse::new(sessions.collect::<Vec<_>>());
        list.next_cursor = response.next_cursor;
        list.meta = response.meta;
        peer.encode_answer(&list).map_err(Error::internal_error)
    }
}

/// What drafts add. Behind the feature `unstable`.
impl Context {
    /// Keeps the params of a request that drafts add to, to be looked at when somebody asks.
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

    /// The instructions that came with `session/new`, `session/load` or `session/resume`.
    ///
    /// # Errors
    ///
    /// "Invalid params", to be passed on to the client, when they cannot be read.
    pub fn system_prompt(&self) -> Result<Option<SystemPrompt>, Error> {
        let params = self.drafts.params.as_ref();
        let added = params.map_or(Ok(SystemPromptAddition::new()), RawJson::decode);
        added.map(|added: SystemPromptAddition| added.system_prompt).map_err(Error::invalid_params)
    }

    /// Which sessions `session/list` asks for, as to whether they are archived.
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

    /// Says with the answer to `session/prompt` how many tokens the turn has used.
    pub fn report_usage(&self, usage: Usage) {
        self.drafts.answer().usage = Some(usage);
    }

    /// Says with the answer to `session/list` of each session whether it is archived: those that are named here are.
    pub fn report_archived<S: Into<SessionId>>(&self, sessions: impl IntoIterator<Item = S>) {
        self.drafts.answer().archived = Some(sessions.into_iter().map(Into::into).collect());
    }
}

/// What drafts add. Behind the feature `unstable`.
impl Client {
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

    /// `auth/status_update`: tells that the status is another one now. Only where the agent advertised `auth.status`.
    pub fn auth_status_update(&self, notification: AuthStatusUpdateNotification) -> Notify<'_> {
        if self.agent().is_some_and(has_auth_status) {
            return self.peer.notify(&notification);
        }
        let why = "the agent did not advertise the capability auth.status";
        self.peer.refuse_notify(CallError::not_allowed(AuthStatusUpdateNotification::NAME, why))
    }

    /// What this agent has advertised.
    pub(super) fn agent(&self) -> Option<&AgentCapabilities> {
        self.shared.agreed.get().map(|agreed| &agreed.agent.agent_capabilities)
    }
}
