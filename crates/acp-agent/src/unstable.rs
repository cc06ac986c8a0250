//! What the protocol's drafts propose to add to version 1. Behind the feature `unstable`.
//!
//! It is no part of the version: it may change and go. The drafts' methods are a trait of their own and not methods of
//! [`Agent`](crate::Agent), because a feature that one crate asks for must not change a trait that another implements. An
//! agent that has some of them passes on what it does not know:
//!
//! ```
//! use agentwire_acp_agent::unstable::{self, DraftAgent};
//! use agentwire_acp_agent::{Agent, Client, Context, Error};
//! use agentwire_acp_schema::v1::unstable::*;
//! use agentwire_acp_schema::v1::{self, NewSessionResponse};
//! use agentwire_jsonrpc::RawJson;
//! # use agentwire_acp_schema::v1::{InitializeRequest, InitializeResponse, StopReason};
//!
//! struct Titled;
//!
//! impl DraftAgent for Titled {
//!     async fn set_session_title(
//!         &self,
//!         request: SetSessionTitleRequest,
//!         _cx: Context,
//!     ) -> Result<SetSessionTitleResponse, Error> {
//!         Ok(SetSessionTitleResponse::new(request.title.trim()))
//!     }
//! }
//!
//! impl Agent for Titled {
//! #   async fn initialize(&self, req: InitializeRequest, _cx: Context) -> Result<InitializeResponse, Error> {
//! #       Ok(InitializeResponse::new(req.protocol_version))
//! #   }
//! #   async fn prompt(&self, req: v1::PromptRequest, cx: Context) -> Result<v1::PromptResponse, Error> {
//! #       Ok(v1::PromptResponse::new(StopReason::EndTurn))
//! #   }
//!     // … and in the methods that are there anyway, what drafts add to them:
//!     async fn new_session(&self, _: v1::NewSessionRequest, cx: Context) -> Result<NewSessionResponse, Error> {
//!         let _instructions = cx.system_prompt()?;
//!         Ok(NewSessionResponse::new("session-1"))
//!     }
//!     async fn extension_request(
//!         &self,
//!         method: &str,
//!         params: Option<RawJson>,
//!         context: Context,
//!     ) -> Result<RawJson, Error> {
//!         unstable::answer(self, method, params, context).await
//!     }
//!     fn extension_notification(&self, method: &str, params: Option<RawJson>, client: &Client) {
//!         unstable::hear(self, method, params, client);
//!     }
//! }
//! ```
//!
//! As with the version's own methods, what the agent did not advertise (see `AgentCapabilitiesAdditions` and its
//! neighbours in the schema crate) is "method not found", and what the client did not advertise is not sent to it.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentwire_acp_schema::v1::unstable::{
    AgentAuthCapabilitiesAdditions, AgentCapabilitiesAdditions, ArchiveFilterAddition, ArchiveSessionRequest,
    ArchiveSessionResponse, ArchivedAddition, AuthStatusRequest, AuthStatusResponse,
    AuthStatusUpdateNotification, ClientCapabilitiesAdditions, DisableProviderRequest,
    DisableProviderResponse, ForkSessionRequest, ForkSessionResponse, ListProvidersRequest,
    ListProvidersResponse, ListSessionsResponse, McpCapabilitiesAdditions, MessageMcpNotification,
    MessageMcpRequest, MessageMcpResponse, PromptResponse, SessionArchiveFilter,
    SessionCapabilitiesAdditions, SessionInfo, SessionStatusRequest, SessionStatusResponse, SessionUpdate,
    SetProviderRequest, SetProviderResponse, SetSessionTitleRequest, SetSessionTitleResponse, SystemPrompt,
    SystemPromptAddition, UnarchiveSessionRequest, UnarchiveSessionResponse, Usage, UsageAddition,
};
use agentwire_acp_schema::v1::{self, AgentCapabilities, McpServer, SessionId, SessionNotification};
use agentwire_jsonrpc::{Method, Notice, RawJson, decode_params};
use agentwire_peer::{Call, CallError, Notify, Peer};

use crate::agreed::Agreed;
use crate::outgoing::{Checked, not_advertised};
use crate::wire::{Answer, Wire, wire};
use crate::{Client, Context, Error, outgoing, rules};

/// The methods that drafts add to an agent. None of them is there until it is written and, by its capability, advertised.
pub trait DraftAgent {
    /// `auth/status`: says whether the person has to log in; never with "authentication required". Advertised by
    /// `auth.status`.
    fn auth_status(
        &self,
        request: AuthStatusRequest,
        context: Context,
    ) -> impl Future<Output = Result<AuthStatusResponse, Error>> {
        not_found(&request, context)
    }

    /// `providers/list`: the providers of models. Advertised by `providers`.
    fn list_providers(
        &self,
        request: ListProvidersRequest,
        context: Context,
    ) -> impl Future<Output = Result<ListProvidersResponse, Error>> {
        not_found(&request, context)
    }

    /// `providers/set`: sets a provider up. Advertised by `providers`.
    fn set_provider(
        &self,
        request: SetProviderRequest,
        context: Context,
    ) -> impl Future<Output = Result<SetProviderResponse, Error>> {
        not_found(&request, context)
    }

    /// `providers/disable`: no longer uses a provider. Advertised by `providers`.
    fn disable_provider(
        &self,
        request: DisableProviderRequest,
        context: Context,
    ) -> impl Future<Output = Result<DisableProviderResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/archive`: takes a conversation off the list as it is by default. Advertised by
    /// `sessionCapabilities.archive`. Its running turns have been cancelled.
    fn archive_session(
        &self,
        request: ArchiveSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<ArchiveSessionResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/unarchive`: puts it on the list again. Advertised by `sessionCapabilities.archive`.
    fn unarchive_session(
        &self,
        request: UnarchiveSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<UnarchiveSessionResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/fork`: begins a conversation from what another has said. Advertised by `sessionCapabilities.fork`.
    fn fork_session(
        &self,
        request: ForkSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<ForkSessionResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/set_title`: calls a conversation something else. Advertised by `sessionCapabilities.title`.
    fn set_session_title(
        &self,
        request: SetSessionTitleRequest,
        context: Context,
    ) -> impl Future<Output = Result<SetSessionTitleResponse, Error>> {
        not_found(&request, context)
    }

    /// `session/status`: says what goes on in a conversation. Advertised by `sessionCapabilities.status`.
    fn session_status(
        &self,
        request: SessionStatusRequest,
        context: Context,
    ) -> impl Future<Output = Result<SessionStatusResponse, Error>> {
        not_found(&request, context)
    }

    /// `mcp/message`: hears what an MCP server of the client's says while a [call](Client::mcp_message) of it runs.
    /// Advertised by `mcpCapabilities.acp`.
    fn mcp_message(&self, notification: MessageMcpNotification, client: &Client) {
        let _ = (notification, client);
    }
}

fn not_found<M: Method>(_: &M, _: Context) -> impl Future<Output = Result<M::Response, Error>> + use<M> {
    std::future::ready(Err(Error::method_not_found(M::NAME)))
}

/// Answers a request of the drafts'; "method not found" for any other. For
/// [`Agent::extension_request`](crate::Agent::extension_request).
///
/// # Errors
///
/// What is to be answered instead of a result.
pub async fn answer<A: DraftAgent + ?Sized>(
    agent: &A,
    method: &str,
    params: Option<RawJson>,
    context: Context,
) -> Result<RawJson, Error> {
    let shared = context.client.shared.clone();
    let agreed = shared.agreed.get().filter(|agreed| offered(method, &agreed.agent.agent_capabilities));
    let agreed = agreed.ok_or_else(|| Error::method_not_found(method))?;
    match method {
        AuthStatusRequest::NAME => give(agreed, params, context, |p, c| agent.auth_status(p, c)).await,
        ListProvidersRequest::NAME => give(agreed, params, context, |p, c| agent.list_providers(p, c)).await,
        SetProviderRequest::NAME => give(agreed, params, context, |p, c| agent.set_provider(p, c)).await,
        DisableProviderRequest::NAME => {
            give(agreed, params, context, |p, c| agent.disable_provider(p, c)).await
        }
        ArchiveSessionRequest::NAME => {
            let archive = |request: ArchiveSessionRequest, context| {
                shared.turns.cancel(&request.session_id);
                agent.archive_session(request, context)
            };
            give(agreed, params, context, archive).await
        }
        UnarchiveSessionRequest::NAME => {
            give(agreed, params, context, |p, c| agent.unarchive_session(p, c)).await
        }
        ForkSessionRequest::NAME => {
            let request = ForkSessionRequest::decode(params.clone())?;
            let servers: Result<Vec<McpServer>, _> =
                request.mcp_servers.into_iter().map(McpServer::try_from).collect();
            rules::session_setup(
                &request.cwd,
                &request.additional_directories,
                &servers.map_err(Error::invalid_params)?,
                &agreed.agent.agent_capabilities,
            )?;
            give(agreed, params, context, |p, c| agent.fork_session(p, c)).await
        }
        SetSessionTitleRequest::NAME => {
            give(agreed, params, context, |p, c| agent.set_session_title(p, c)).await
        }
        SessionStatusRequest::NAME => give(agreed, params, context, |p, c| agent.session_status(p, c)).await,
        other => Err(Error::method_not_found(other)),
    }
}

/// Hears a notification of the drafts', and passes over any other. For
/// [`Agent::extension_notification`](crate::Agent::extension_notification).
pub fn hear<A: DraftAgent + ?Sized>(agent: &A, method: &str, params: Option<RawJson>, client: &Client) {
    let agreed = client.shared.agreed.get();
    if agreed.is_some_and(|agreed| offered(method, &agreed.agent.agent_capabilities))
        && method == MessageMcpNotification::NAME
        && let Ok(notification) = decode_params(params)
    {
        agent.mcp_message(notification, client);
    }
}

/// A capability that was not advertised is not there, whatever the agent's code could do.
fn offered(method: &str, agent: &AgentCapabilities) -> bool {
    let sessions = || SessionCapabilitiesAdditions::of(&agent.session_capabilities.extra);
    match method {
        AuthStatusRequest::NAME => AgentAuthCapabilitiesAdditions::of(&agent.auth.extra).status.is_some(),
        ListProvidersRequest::NAME | SetProviderRequest::NAME | DisableProviderRequest::NAME => {
            AgentCapabilitiesAdditions::of(&agent.extra).providers.is_some()
        }
        ArchiveSessionRequest::NAME | UnarchiveSessionRequest::NAME => sessions().archive.is_some(),
        ForkSessionRequest::NAME => sessions().fork.is_some(),
        SetSessionTitleRequest::NAME => sessions().title.is_some(),
        SessionStatusRequest::NAME => sessions().status.is_some(),
        MessageMcpRequest::NAME => McpCapabilitiesAdditions::of(&agent.mcp_capabilities.extra).acp,
        _ => false,
    }
}

wire! {
    ArchiveSessionRequest,
    AuthStatusRequest,
    DisableProviderRequest,
    ForkSessionRequest,
    ListProvidersRequest,
    SessionStatusRequest,
    SetProviderRequest,
    SetSessionTitleRequest,
    UnarchiveSessionRequest,
}

impl Answer for ArchiveSessionRequest {}
impl Answer for AuthStatusRequest {}
impl Answer for DisableProviderRequest {}
impl Answer for ListProvidersRequest {}
impl Answer for SessionStatusRequest {}
impl Answer for SetProviderRequest {}
impl Answer for SetSessionTitleRequest {}
impl Answer for UnarchiveSessionRequest {}

impl Answer for ForkSessionRequest {
    fn check(response: &mut ForkSessionResponse, agreed: &Agreed) -> Checked {
        outgoing::session(response.modes.as_ref(), &mut response.config_options, agreed.client_can())
    }
}

async fn give<P, F>(
    agreed: &Agreed,
    params: Option<RawJson>,
    context: Context,
    method: impl FnOnce(P, Context) -> F,
) -> Result<RawJson, Error>
where
    P: Answer,
    F: Future<Output = Result<P::Response, Error>>,
{
    let peer = context.request.peer().clone();
    P::answer(&peer, method(P::decode(params)?, context).await?, agreed)
}

/// What drafts add to one request and its answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drafts {
    /// The params of a request that drafts add to.
    pub(crate) params: Option<RawJson>,
    told: Arc<Mutex<Told>>,
}

#[derive(Debug, Default)]
struct Told {
    usage: Option<Usage>,
    archived: Option<BTreeSet<SessionId>>,
}

impl Drafts {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the answer to `session/prompt` with what drafts add to it.
    pub(crate) fn prompt_answer(
        &self,
        peer: &Peer,
        mut response: v1::PromptResponse,
        agreed: &Agreed,
    ) -> Result<RawJson, Error> {
        let Some(usage) = self.told().usage.take() else {
            return v1::PromptRequest::answer(peer, response, agreed);
        };
        v1::PromptRequest::check(&mut response, agreed).map_err(Error::internal_error)?;
        let response = PromptResponse::new(response, UsageAddition::new().usage(usage));
        peer.encode_answer(&response).map_err(Error::internal_error)
    }

    /// Writes the answer to `session/list` with what drafts add to it.
    pub(crate) fn list_answer(
        &self,
        peer: &Peer,
        mut response: v1::ListSessionsResponse,
        agreed: &Agreed,
    ) -> Result<RawJson, Error> {
        let Some(archived) = self.told().archived.take() else {
            return v1::ListSessionsRequest::answer(peer, response, agreed);
        };
        v1::ListSessionsRequest::check(&mut response, agreed).map_err(Error::internal_error)?;
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
        self.drafts.told().usage = Some(usage);
    }

    /// Says with the answer to `session/list` of each session whether it is archived: those that are named here are.
    pub fn report_archived<S: Into<SessionId>>(&self, sessions: impl IntoIterator<Item = S>) {
        self.drafts.told().archived = Some(sessions.into_iter().map(Into::into).collect());
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
        if self.agent_offered(MessageMcpRequest::NAME) {
            return self.peer.call(&request);
        }
        let why = "the agent did not advertise the capability mcpCapabilities.acp";
        self.peer.refuse_call(CallError::not_allowed(MessageMcpRequest::NAME, why))
    }

    /// `auth/status_update`: tells that the status is another one now. Only where the agent advertised `auth.status`.
    pub fn auth_status_update(&self, notification: AuthStatusUpdateNotification) -> Notify<'_> {
        if self.agent_offered(AuthStatusRequest::NAME) {
            return self.peer.notify(&notification);
        }
        let why = "the agent did not advertise the capability auth.status";
        self.peer.refuse_notify(CallError::not_allowed(AuthStatusUpdateNotification::NAME, why))
    }

    fn agent_offered(&self, method: &str) -> bool {
        let agreed = self.shared.agreed.get();
        agreed.is_some_and(|agreed| offered(method, &agreed.agent.agent_capabilities))
    }
}
