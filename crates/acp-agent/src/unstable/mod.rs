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
//!         unstable::notify(self, method, params, client);
//!     }
//! }
//! ```
//!
//! As with the version's own methods, what the agent did not advertise (see `AgentCapabilitiesAdditions` and its
//! neighbours in the schema crate) is "method not found", and what the client did not advertise is not sent to it.

mod additions;

use std::future::Future;

use agentwire_acp_schema::v1::unstable::{
    AgentAuthCapabilitiesAdditions, AgentCapabilitiesAdditions, ArchiveSessionRequest,
    ArchiveSessionResponse, AuthStatusRequest, AuthStatusResponse, DisableProviderRequest,
    DisableProviderResponse, ForkSessionRequest, ForkSessionResponse, ListProvidersRequest,
    ListProvidersResponse, McpCapabilitiesAdditions, MessageMcpNotification, SessionCapabilitiesAdditions,
    SessionStatusRequest, SessionStatusResponse, SetProviderRequest, SetProviderResponse,
    SetSessionTitleRequest, SetSessionTitleResponse, UnarchiveSessionRequest, UnarchiveSessionResponse,
};
use agentwire_acp_schema::v1::{AgentCapabilities, McpServer};
use agentwire_jsonrpc::{NotificationMethod, RawJson, RequestMethod, decode_params};

use crate::agent::not_found;
use crate::method::{answer as answer_by, methods};
use crate::methods::Connection;
use crate::{Client, Context, Error, outgoing, rules};

pub(crate) use additions::Drafts;

/// The methods that drafts add to an agent. None of them is there until it is written and, by its capability, advertised.
pub trait DraftAgent: Send + Sync {
    /// `auth/status`: says whether the person has to log in; never with "authentication required". Advertised by
    /// `auth.status`.
    fn auth_status(
        &self,
        request: AuthStatusRequest,
        context: Context,
    ) -> impl Future<Output = Result<AuthStatusResponse, Error>> + Send {
        unimplemented(&request, context)
    }

    /// `providers/list`: the providers of models. Advertised by `providers`.
    fn list_providers(
        &self,
        request: ListProvidersRequest,
        context: Context,
    ) -> impl Future<Output = Result<ListProvidersResponse, Error>> + Send {
        unimplemented(&request, context)
    }

    /// `providers/set`: sets a provider up. Advertised by `providers`.
    fn set_provider(
        &self,
        request: SetProviderRequest,
        context: Context,
    ) -> impl Future<Output = Result<SetProviderResponse, Error>> + Send {
        unimplemented(&request, context)
    }

    /// `providers/disable`: no longer uses a provider. Advertised by `providers`.
    fn disable_provider(
        &self,
        request: DisableProviderRequest,
        context: Context,
    ) -> impl Future<Output = Result<DisableProviderResponse, Error>> + Send {
        unimplemented(&request, context)
    }

    /// `session/archive`: takes a conversation off the list as it is by default. Advertised by
    /// `sessionCapabilities.archive`. Its running turns have been cancelled.
    fn archive_session(
        &self,
        request: ArchiveSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<ArchiveSessionResponse, Error>> + Send {
        unimplemented(&request, context)
    }

    /// `session/unarchive`: puts it on the list again. Advertised by `sessionCapabilities.archive`.
    fn unarchive_session(
        &self,
        request: UnarchiveSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<UnarchiveSessionResponse, Error>> + Send {
        unimplemented(&request, context)
    }

    /// `session/fork`: begins a conversation from what another has said. Advertised by `sessionCapabilities.fork`.
    fn fork_session(
        &self,
        request: ForkSessionRequest,
        context: Context,
    ) -> impl Future<Output = Result<ForkSessionResponse, Error>> + Send {
        unimplemented(&request, context)
    }

    /// `session/set_title`: calls a conversation something else. Advertised by `sessionCapabilities.title`.
    fn set_session_title(
        &self,
        request: SetSessionTitleRequest,
        context: Context,
    ) -> impl Future<Output = Result<SetSessionTitleResponse, Error>> + Send {
        unimplemented(&request, context)
    }

    /// `session/status`: says what goes on in a conversation. Advertised by `sessionCapabilities.status`.
    fn session_status(
        &self,
        request: SessionStatusRequest,
        context: Context,
    ) -> impl Future<Output = Result<SessionStatusResponse, Error>> + Send {
        unimplemented(&request, context)
    }

    /// `mcp/message`: hears what an MCP server of the client's says while a [call](Client::mcp_message) of it runs.
    /// Advertised by `mcpCapabilities.acp`.
    fn mcp_message(&self, notification: MessageMcpNotification, client: &Client) {
        let _ = (notification, client);
    }
}

fn unimplemented<M: RequestMethod<Response: Send>>(
    request: &M,
    _: Context,
) -> impl Future<Output = Result<M::Response, Error>> + Send + use<M> {
    std::future::ready(not_found(request))
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
    let agreed = shared.agreed.get().ok_or_else(|| Error::method_not_found(method))?;
    let at = &Connection { agreed, turns: &shared.turns };
    let peer = &context.request.peer().clone();
    match method {
        AuthStatusRequest::NAME => answer_by(at, params, peer, |p| agent.auth_status(p, context)).await,
        ListProvidersRequest::NAME => answer_by(at, params, peer, |p| agent.list_providers(p, context)).await,
        SetProviderRequest::NAME => answer_by(at, params, peer, |p| agent.set_provider(p, context)).await,
        DisableProviderRequest::NAME => {
            answer_by(at, params, peer, |p| agent.disable_provider(p, context)).await
        }
        ArchiveSessionRequest::NAME => {
            answer_by(at, params, peer, |p| agent.archive_session(p, context)).await
        }
        UnarchiveSessionRequest::NAME => {
            answer_by(at, params, peer, |p| agent.unarchive_session(p, context)).await
        }
        ForkSessionRequest::NAME => answer_by(at, params, peer, |p| agent.fork_session(p, context)).await,
        SetSessionTitleRequest::NAME => {
            answer_by(at, params, peer, |p| agent.set_session_title(p, context)).await
        }
        SessionStatusRequest::NAME => answer_by(at, params, peer, |p| agent.session_status(p, context)).await,
        other => Err(Error::method_not_found(other)),
    }
}

/// Calls the agent for a notification of the drafts', and ignores any other. For
/// [`Agent::extension_notification`](crate::Agent::extension_notification).
pub fn notify<A: DraftAgent + ?Sized>(agent: &A, method: &str, params: Option<RawJson>, client: &Client) {
    if method == MessageMcpNotification::NAME
        && client.agent().is_some_and(takes_mcp)
        && let Ok(notification) = decode_params(params)
    {
        agent.mcp_message(notification, client);
    }
}

methods! { Connection<'_>:
    AuthStatusRequest { if |at| has_auth_status(at.agent()); },
    ListProvidersRequest { if |at| has_providers(at.agent()); },
    SetProviderRequest { if |at| has_providers(at.agent()); },
    DisableProviderRequest { if |at| has_providers(at.agent()); },
    ArchiveSessionRequest {
        if |at| sessions(at.agent()).archive.is_some();
        check |archive, at| { at.turns.cancel(&archive.session_id); Ok(()) };
    },
    UnarchiveSessionRequest { if |at| sessions(at.agent()).archive.is_some(); },
    ForkSessionRequest {
        if |at| sessions(at.agent()).fork.is_some();
        check |fork, at| {
            let servers = fork.mcp_servers.iter().cloned().map(McpServer::try_from);
            let servers: Vec<_> = servers.collect::<Result<_, _>>().map_err(Error::invalid_params)?;
            rules::session_setup(&fork.cwd, &fork.additional_directories, &servers, at.agent())
        };
        answer |forked, at| {
            outgoing::session(forked.modes.as_ref(), &mut forked.config_options, at.client())
        };
    },
    SetSessionTitleRequest { if |at| sessions(at.agent()).title.is_some(); },
    SessionStatusRequest { if |at| sessions(at.agent()).status.is_some(); },
}

fn has_auth_status(agent: &AgentCapabilities) -> bool {
    AgentAuthCapabilitiesAdditions::of(&agent.auth.extra).status.is_some()
}

fn has_providers(agent: &AgentCapabilities) -> bool {
    AgentCapabilitiesAdditions::of(&agent.extra).providers.is_some()
}

fn sessions(agent: &AgentCapabilities) -> SessionCapabilitiesAdditions {
    SessionCapabilitiesAdditions::of(&agent.session_capabilities.extra)
}

fn takes_mcp(agent: &AgentCapabilities) -> bool {
    McpCapabilitiesAdditions::of(&agent.mcp_capabilities.extra).acp
}
