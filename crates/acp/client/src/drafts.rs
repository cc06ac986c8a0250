//! The handle for drafts, for both versions.

use agentwire_acp_schema::v1::unstable::{AuthStatusUpdateNotification, MessageMcpRequest};
use agentwire_jsonrpc::{NotificationMethod, RawJson, RequestMethod, decode_params};

use crate::Error;

/// Decodes `auth/status_update`, for `Client::extension_notification`: the authentication status has changed. Returns
/// none for another method, and for params that cannot be decoded.
pub fn auth_status_update(method: &str, params: Option<&RawJson>) -> Option<AuthStatusUpdateNotification> {
    let is_it = method == AuthStatusUpdateNotification::NAME;
    if is_it { decode_params(params.cloned()).ok() } else { None }
}

/// Reads `mcp/message` among the requests that the version itself does not know, as `Client::extension_request` gets
/// them: the agent calls an MCP server that the client offered as one of type `acp`. None for any other.
///
/// The answer is a [`MessageMcpResponse`](agentwire_acp_schema::v1::unstable::MessageMcpResponse), encoded by
/// [`RawJson::encode`].
pub fn mcp_message(method: &str, params: Option<&RawJson>) -> Option<Result<MessageMcpRequest, Error>> {
    (method == MessageMcpRequest::NAME).then(|| decode_params(params.cloned()))
}

/// Defines the handle for the drafts of a version. The module has functions that return the agent's capabilities from
/// its answer to `initialize`.
macro_rules! drafts {
    () => {
        /// The requests that drafts add to an agent; see [`AgentHandle::drafts`].
        ///
        /// A request that the agent did not advertise fails with an error that names the capability, and is not sent.
        #[derive(Clone, Debug)]
        pub struct Drafts {
            agent: AgentHandle,
        }

        impl AgentHandle {
            /// Returns the handle for the requests that drafts add.
            pub fn drafts(&self) -> Drafts {
                Drafts { agent: self.clone() }
            }
        }

        impl Drafts {
            /// `auth/status`: returns whether the user is logged in.
            pub fn auth_status(&self, request: AuthStatusRequest) -> Call<AuthStatusResponse> {
                self.gated(&request, "auth.status", |agent| auth(agent).status.is_some())
            }

            /// `providers/list`: returns the model providers that the client can configure.
            pub fn list_providers(&self, request: ListProvidersRequest) -> Call<ListProvidersResponse> {
                self.gated(&request, "providers", has_providers)
            }

            /// `providers/set`: sets the address and the headers by which the agent reaches a provider.
            pub fn set_provider(&self, request: SetProviderRequest) -> Call<SetProviderResponse> {
                self.gated(&request, "providers", has_providers)
            }

            /// `providers/disable`: disables a provider.
            pub fn disable_provider(&self, request: DisableProviderRequest) -> Call<DisableProviderResponse> {
                self.gated(&request, "providers", has_providers)
            }

            /// `session/new` with what drafts add, such as a system prompt.
            pub fn new_session(
                &self,
                request: NewSessionRequest,
            ) -> Call<<NewSessionRequest as RequestMethod>::Response> {
                let call = self.checked(&request, |agent| {
                    system_prompt(request.added.system_prompt.is_some(), agent)?;
                    let setup = &request.stable;
                    set_up(&setup.cwd, &setup.additional_directories, &setup.mcp_servers, agent)
                });
                self.agent.remember(None, call)
            }

            /// `session/resume` with what drafts add, such as a system prompt.
            pub fn resume_session(
                &self,
                request: ResumeSessionRequest,
            ) -> Call<<ResumeSessionRequest as RequestMethod>::Response> {
                let call = self.checked(&request, |agent| {
                    resumes(agent)?;
                    system_prompt(request.added.system_prompt.is_some(), agent)?;
                    let setup = &request.stable;
                    set_up(&setup.cwd, &setup.additional_directories, &setup.mcp_servers, agent)
                });
                self.agent.remember(Some(request.stable.session_id), call)
            }

            /// `session/fork`: begins a conversation that has the context of another.
            pub fn fork_session(&self, request: ForkSessionRequest) -> Call<ForkSessionResponse> {
                let call = self.checked(&request, |agent| {
                    advertised(SESSION, "fork", session(agent).fork.is_some())?;
                    system_prompt(request.system_prompt.is_some(), agent)?;
                    let servers = request.mcp_servers.iter().cloned().map(McpServer::try_from);
                    let servers: Vec<_> = servers.collect::<Result<_, _>>().map_err(|why| why.to_string())?;
                    set_up(&request.cwd, &request.additional_directories, &servers, agent)
                });
                self.agent.remember(None, call)
            }

            /// `session/list` with what drafts add, such as archived sessions: one page.
            pub fn list_sessions(&self, request: ListSessionsRequest) -> Call<ListSessionsResponse> {
                self.checked(&request, |agent| {
                    lists(agent)?;
                    if request.added.archived.is_some() {
                        advertised(SESSION, "archive", session(agent).archive.is_some())?;
                    }
                    absolute(request.stable.cwd.as_deref())
                })
            }

            /// `session/archive`: ends a session and hides it from the default list.
            pub fn archive_session(&self, request: ArchiveSessionRequest) -> Call<ArchiveSessionResponse> {
                self.of_session(&request, "archive", |session| session.archive.is_some())
            }

            /// `session/unarchive`: shows a session in the default list again.
            pub fn unarchive_session(
                &self,
                request: UnarchiveSessionRequest,
            ) -> Call<UnarchiveSessionResponse> {
                self.of_session(&request, "archive", |session| session.archive.is_some())
            }

            /// `session/set_title`: sets the title of a session.
            pub fn set_session_title(
                &self,
                request: SetSessionTitleRequest,
            ) -> Call<SetSessionTitleResponse> {
                self.of_session(&request, "title", |session| session.title.is_some())
            }

            /// `session/status`: returns the status of a session without opening it.
            pub fn session_status(&self, request: SessionStatusRequest) -> Call<SessionStatusResponse> {
                self.of_session(&request, "status", |session| session.status.is_some())
            }

            /// `mcp/message`: sends a message of the client's MCP server that belongs to a request of the agent.
            pub fn mcp_message(&self, notification: MessageMcpNotification) -> Notify<'_> {
                let method = MessageMcpNotification::NAME;
                let (peer, initialized) = (self.agent.peer(), &self.agent.shared().initialized);
                match initialized.check(method, |agent| crate::rules::advertised(MCP, takes_mcp(agent))) {
                    Ok(()) => peer.notify(&notification),
                    Err(error) => agentwire_peer::runtime::PeerExt::refuse_notify(peer, error),
                }
            }

            fn of_session<M: RequestMethod>(
                &self,
                request: &M,
                name: &'static str,
                has: impl FnOnce(&SessionCapabilitiesAdditions) -> bool,
            ) -> Call<M::Response> {
                self.checked(request, |agent| advertised(SESSION, name, has(&session(agent))))
            }

            fn gated<M: RequestMethod>(
                &self,
                request: &M,
                name: &'static str,
                has: impl FnOnce(&InitializeResponse) -> bool,
            ) -> Call<M::Response> {
                self.checked(request, |agent| crate::rules::advertised(name, has(agent)))
            }

            fn checked<M: RequestMethod>(
                &self,
                request: &M,
                rule: impl FnOnce(&InitializeResponse) -> Result<(), String>,
            ) -> Call<M::Response> {
                self.agent.shared().initialized.checked(self.agent.peer(), request, rule)
            }
        }

        fn advertised(group: &str, name: &str, has: bool) -> Result<(), String> {
            crate::rules::advertised(&format!("{group}.{name}"), has)
        }

        fn system_prompt(wanted: bool, agent: &InitializeResponse) -> Result<(), String> {
            advertised(SESSION, "systemPrompt", !wanted || session(agent).system_prompt.is_some())
        }
    };
}
pub(crate) use drafts;
