//! The handle of an agent, for both versions.

/// Defines the handle on an agent and the context of its requests: the parts that are the same in each version.
///
/// The module has `rules::{options, value}` and `AgentHandle::list_page`. `$version` is the version, `$capabilities` the
/// member of the agent's answer to `initialize`.
macro_rules! handle {
    (
        $(#[$doc:meta])*
        pub struct AgentHandle: $version:expr, $capabilities:ident
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct AgentHandle {
            peer: agentwire_peer::Peer,
            shared: std::sync::Arc<ConnectionState>,
        }

        impl AgentHandle {
            pub(crate) fn new(peer: agentwire_peer::Peer, shared: std::sync::Arc<ConnectionState>) -> Self {
                Self { peer, shared }
            }

            /// Returns the agent's answer to `initialize`, or `None` before it has arrived.
            pub fn initialize_response(&self) -> Option<&InitializeResponse> {
                self.shared.initialized.agent()
            }

            /// Returns the agent's capabilities, or `None` before `initialize` is answered.
            pub fn capabilities(&self) -> Option<&AgentCapabilities> {
                self.initialize_response().map(|answer| &answer.$capabilities)
            }

            /// `session/list`: all stored sessions, one by one. A page is requested when the one before is used up.
            pub fn sessions(&self, request: ListSessionsRequest) -> Sessions {
                let agent = self.clone();
                Sessions::new(request, self.peer.clone(), move |request| agent.list_page(request))
            }

            /// `session/list`: one page of the stored sessions. See also [`sessions`](Self::sessions).
            pub fn list_sessions(&self, request: ListSessionsRequest) -> Call<ListSessionsResponse> {
                self.list_page(&request)
            }

            /// `session/set_config_option`: changes an option, to one of the values that the session offered last; the answer
            /// has all options. Where the session has not sent its options on this connection, any value is sent, and the
            /// agent decides.
            pub fn set_session_config_option(
                &self,
                request: SetSessionConfigOptionRequest,
            ) -> Call<SetSessionConfigOptionResponse> {
                let call = self.checked(&request, |_| {
                    let value = rules::value(&request.value);
                    self.shared.options.check_value(&request.session_id, &request.config_id, value)
                });
                let (shared, session_id) = (self.shared.clone(), request.session_id);
                call.on_result(move |response| {
                    let options = rules::options(&response.config_options);
                    shared.options.set_answered(&session_id, options);
                })
            }

            /// Sends a request of an extension. Its name begins with `_`.
            pub fn extension_request<P, R>(&self, method: &str, params: &P) -> Call<R>
            where
                P: serde::Serialize + ?Sized,
                R: serde::de::DeserializeOwned + Send + 'static,
            {
                match self.shared.initialized.answered(method) {
                    Ok(_) => self.peer.call_method(method, Some(params)),
                    Err(error) => self.peer.refuse_call(error),
                }
            }

            /// Sends a notification of an extension. Its name begins with `_`.
            pub fn extension_notification<P: serde::Serialize + ?Sized>(
                &self,
                method: &str,
                params: &P,
            ) -> Notify<'_> {
                match self.shared.initialized.answered(method) {
                    Ok(_) => self.peer.notify_method(method, Some(params)),
                    Err(error) => self.peer.refuse_notify(error),
                }
            }

            /// Completes when the agent has closed its side, or the connection has failed. Returns the reason.
            pub async fn closed(&self) -> agentwire_peer::Closed {
                self.peer.closed().await
            }

            /// Returns whether the connection is closed.
            pub fn is_closed(&self) -> bool {
                self.peer.is_closed()
            }

            /// Stores the answer to `initialize` when it arrives. One of another version is an error.
            fn keep_answer(&self, call: Call<InitializeResponse>) -> Call<InitializeResponse> {
                let shared = self.shared.clone();
                call.check(move |response| {
                    same_version(response.protocol_version, $version)
                        .map_err(|why| CallError::not_allowed(InitializeRequest::NAME, why))?;
                    shared.initialized.set_agent(response.clone());
                    Ok(response)
                })
            }

            /// Stores what a session offers when the answer that opens it arrives. `session_id` is `None` if the answer has
            /// the id of a new session.
            pub(crate) fn remember<R: OpenedSession<Option = SessionConfigOption>>(
                &self,
                session_id: Option<SessionId>,
                call: Call<R>,
            ) -> Call<R> {
                let shared = self.shared.clone();
                call.on_result(move |opened| {
                    let (id, modes, offered) = opened.offered();
                    if let Some(id) = session_id.as_ref().or(id) {
                        let options = offered.map(rules::options);
                        shared.options.set_up(id, session_id.is_none(), modes, options);
                    }
                })
            }

            fn checked<M: RequestMethod>(
                &self,
                request: &M,
                rule: impl FnOnce(&InitializeResponse) -> Result<(), String>,
            ) -> Call<M::Response> {
                self.shared.initialized.checked(&self.peer, request, rule)
            }
        }

        #[cfg(feature = "unstable")]
        impl AgentHandle {
            pub(crate) fn peer(&self) -> &agentwire_peer::Peer {
                &self.peer
            }

            pub(crate) fn shared(&self) -> &ConnectionState {
                &self.shared
            }
        }

        /// The context of one request, for the client that answers it.
        #[derive(Clone, Debug)]
        pub struct Context {
            pub(crate) agent: AgentHandle,
            pub(crate) request: agentwire_peer::RequestContext,
        }

        impl Context {
            /// Returns the agent that sent the request.
            pub fn agent(&self) -> &AgentHandle {
                &self.agent
            }

            /// Completes when the agent has cancelled the request.
            pub fn cancelled(&self) -> agentwire_peer::Cancelled {
                self.request.cancelled()
            }

            /// Returns whether the agent has cancelled the request.
            pub fn is_cancelled(&self) -> bool {
                self.request.is_cancelled()
            }
        }
    };
}
pub(crate) use handle;
