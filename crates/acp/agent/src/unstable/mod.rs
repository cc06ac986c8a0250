//! The drafts that extend version 1. Requires the feature `unstable`.
//!
//! Drafts may change and disappear. Their methods form a separate trait and are not part of [`Agent`](crate::Agent), because
//! a feature that one crate turns on must not change a trait that another implements. An agent with some of these
//! methods forwards unknown methods to this module:
//!
//! ```
//! use agentwire_acp_agent::unstable::{self, DraftAgent};
//! use agentwire_acp_agent::{Agent, RemoteClient, Context, Error};
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
//!     // … and the additions of drafts to methods of version 1:
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
//!     fn extension_notification(&self, method: &str, params: Option<RawJson>, client: &RemoteClient) {
//!         unstable::notify(self, method, params, client);
//!     }
//! }
//! ```
//!
//! The rules for the methods of version 1 apply here too. A method that the agent did not advertise (see
//! `AgentCapabilitiesAdditions` in the schema crate) answers "method not found". A message whose capability was not
//! advertised (by the client, or by the agent for `mcp/message` and `auth/status_update`) fails without being sent.

mod additions;
mod drafts;

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
use crate::{Context, Error, RemoteClient, outgoing, rules};

pub(crate) use drafts::Drafts;

/// Defines [`DraftAgent`], and [`answer`], which dispatches a request to its method.
macro_rules! draft_methods {
    ($($(#[$doc:meta])* $method:ident($Request:ident) -> $Response:ident;)+) => {
        /// The methods of the drafts. Each answers "method not found" until it is implemented and advertised by its capability.
        pub trait DraftAgent: Send + Sync {
            $($(#[$doc])*
            fn $method(
                &self,
                request: $Request,
                context: Context,
            ) -> impl Future<Output = Result<$Response, Error>> + Send {
                unimplemented(&request, context)
            })+

            /// `mcp/message`: called for each message that the client's MCP server sends during a
            /// [call](RemoteClient::mcp_message).
            /// Advertised by `mcpCapabilities.acp`.
            fn mcp_message(&self, notification: MessageMcpNotification, client: &RemoteClient) {
                let _ = (notification, client);
            }
        }

        /// Answers a request of the drafts. Answers any other request with "method not found". Call this function from
        /// [`Agent::extension_request`](crate::Agent::extension_request).
        ///
        /// # Errors
        ///
        /// The error that answers the request.
        pub async fn answer<A: DraftAgent + ?Sized>(
            agent: &A,
            method: &str,
            params: Option<RawJson>,
            context: Context,
        ) -> Result<RawJson, Error> {
            let state = context.client.state.clone();
            let handshake = state.handshake.get().ok_or_else(|| Error::method_not_found(method))?;
            let at = &Connection { handshake, turns: &state.turns };
            let peer = &context.request.peer().clone();
            match method {
                $($Request::NAME => answer_by(at, params, peer, |p| agent.$method(p, context)).await,)+
                other => Err(Error::method_not_found(other)),
            }
        }
    };
}

draft_methods! {
    /// `auth/status`: returns whether the user has to log in. This method must not fail with "authentication required".
    /// Advertised by `auth.status`.
    auth_status(AuthStatusRequest) -> AuthStatusResponse;

    /// `providers/list`: returns the providers of models. Advertised by `providers`.
    list_providers(ListProvidersRequest) -> ListProvidersResponse;

    /// `providers/set`: configures a provider. Advertised by `providers`.
    set_provider(SetProviderRequest) -> SetProviderResponse;

    /// `providers/disable`: disables a provider. Advertised by `providers`.
    disable_provider(DisableProviderRequest) -> DisableProviderResponse;

    /// `session/archive`: hides a session from the default list. The session's running turns are cancelled before
    /// this call. Advertised by `sessionCapabilities.archive`.
    archive_session(ArchiveSessionRequest) -> ArchiveSessionResponse;

    /// `session/unarchive`: shows a session in the default list again. Advertised by `sessionCapabilities.archive`.
    unarchive_session(UnarchiveSessionRequest) -> UnarchiveSessionResponse;

    /// `session/fork`: creates a session from the history of another. Advertised by `sessionCapabilities.fork`.
    fork_session(ForkSessionRequest) -> ForkSessionResponse;

    /// `session/set_title`: sets the title of a session. Advertised by `sessionCapabilities.title`.
    set_session_title(SetSessionTitleRequest) -> SetSessionTitleResponse;

    /// `session/status`: returns the status of a session. Advertised by `sessionCapabilities.status`.
    session_status(SessionStatusRequest) -> SessionStatusResponse;
}

fn unimplemented<M: RequestMethod<Response: Send>>(
    request: &M,
    _: Context,
) -> impl Future<Output = Result<M::Response, Error>> + Send + use<M> {
    std::future::ready(not_found(request))
}

/// Passes a notification of the drafts to the agent, and ignores any other. Call this function from
/// [`Agent::extension_notification`](crate::Agent::extension_notification).
pub fn notify<A: DraftAgent + ?Sized>(
    agent: &A,
    method: &str,
    params: Option<RawJson>,
    client: &RemoteClient,
) {
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
            rules::check_session_setup(&fork.cwd, &fork.additional_directories, &servers, at.agent())
        };
        answer |forked, at| {
            outgoing::check_session(forked.modes.as_ref(), &mut forked.config_options, at.client())
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
