//! The handler of an agent's messages, for both versions.

/// Defines the handler of a connection, which passes the messages of the agent to a client. `$Update` is the notification
/// type of an update.
///
/// The invoking module defines the methods of `Dispatch` that differ between the versions: `dispatch` for a
/// request, `note` for the changes of an update in the state of its session, and `late_answer`.
macro_rules! dispatcher {
    ($Update:ident) => {
        /// Puts a [`Client`] behind a connection.
        pub(crate) struct Dispatch<C> {
            client: C,
            shared: Arc<ConnectionState>,
            /// The memory limit of a decoded message, in bytes.
            value_limit: usize,
        }

        impl<C: Client> Dispatch<C> {
            pub(crate) fn new(client: C, shared: Arc<ConnectionState>, value_limit: usize) -> Self {
                Self { client, shared, value_limit }
            }

            fn agent(&self, peer: &Peer) -> AgentHandle {
                AgentHandle::new(peer.clone(), self.shared.clone())
            }

            /// Decodes params, and reports the parts that were left out of them.
            fn decode<P: DeserializeOwned>(&self, method: &str, params: Option<RawJson>) -> Result<P, Error> {
                decode(params, self.value_limit, |skipped| self.client.skipped(method, skipped))
            }

            /// Runs the client's answer to a permission request until the request is cancelled. `None` if that came first.
            async fn ask_permission(
                &self,
                request: RequestPermissionRequest,
                context: Context,
            ) -> Option<Result<RequestPermissionResponse, Error>> {
                if context.is_cancelled() {
                    return None;
                }
                let cancelled = context.cancelled();
                let answer = pin!(self.client.request_permission(request, context));
                match select(cancelled, answer).await {
                    Either::Left(_) => None,
                    Either::Right((answer, _)) => Some(answer),
                }
            }

            async fn elicitation(
                &self,
                request: CreateElicitationRequest,
                context: Context,
            ) -> Result<CreateElicitationResponse, Error> {
                let client = self.shared.initialized.client();
                let offered = client.as_ref().and_then(|client| client.elicitation.as_ref());
                let (mode, takes, url_id) = match &request.mode {
                    ElicitationMode::Form(_) => ("form", offered.is_some_and(|can| can.form.is_some()), None),
                    ElicitationMode::Url(url) => (
                        "url",
                        offered.is_some_and(|can| can.url.is_some()),
                        Some(url.elicitation_id.clone()),
                    ),
                    _ => ("that", false, None),
                };
                if !takes {
                    return Err(Error::invalid_params(format_args!("this client does not take {mode} mode")));
                }
                if let Some(id) = &url_id {
                    self.shared.elicitations.begin(id);
                }
                let answer = self.client.create_elicitation(request, context).await;
                let is_accepted =
                    answer.as_ref().is_ok_and(|answer| matches!(answer.action, ElicitationAction::Accept(_)));
                if let (Some(id), false) = (&url_id, is_accepted) {
                    self.shared.elicitations.end(id);
                }
                answer
            }

            /// Reads an update. The JSON text is dropped before the client gets the update, so that text and value are
            /// not both in memory. The streams of turns
            /// get it first.
            fn read_update(&self, params: Option<RawJson>) {
                let bytes = params.as_ref().map_or(0, RawJson::len);
                let report = |skipped| self.client.skipped($Update::NAME, skipped);
                match decode_or_give_back::<$Update>(params, self.value_limit, report) {
                    Ok(notification) => {
                        self.note(&notification);
                        let $Update { session_id, update, .. } = &notification;
                        self.shared.readers.publish(session_id, update, bytes);
                        self.client.session_update(notification);
                    }
                    Err((params, why)) => self.client.unreadable_update(params, &why),
                }
            }
        }

        impl<C: Client> Handler for Dispatch<C> {
            fn request(
                &self,
                request: Request,
                context: RequestContext,
            ) -> impl Future<Output = Result<RawJson, Error>> {
                let context = Context { agent: self.agent(context.peer()), request: context };
                // Boxed, because this future is as large as the largest method's.
                Box::pin(self.dispatch(request, context))
            }

            fn notification(&self, notification: Notification, peer: &Peer) {
                let Notification { method, params, .. } = notification;
                match &*method {
                    $Update::NAME => self.read_update(params),
                    CompleteElicitationNotification::NAME => {
                        if let Ok::<CompleteElicitationNotification, _>(complete) =
                            self.decode(&method, params)
                            && self.shared.elicitations.end(&complete.elicitation_id)
                        {
                            self.client.complete_elicitation(complete);
                        }
                    }
                    method if method.starts_with("$/") => {}
                    method => self.client.extension_notification(method, params, &self.agent(peer)),
                }
            }

            fn unmatched_response(&self, response: Response) {
                self.late_answer(&response);
                self.client.unreadable_message(&Error::invalid_request(describe_unmatched(&response)));
            }

            fn cancelled_response(&self, response: Response) {
                self.late_answer(&response);
            }

            fn skipped(&self, method: &str, skipped: Skipped) {
                self.client.skipped(method, skipped);
            }

            fn unreadable(&self, error: Error) {
                self.client.unreadable_message(&error);
            }
        }
    };
}
pub(crate) use dispatcher;
