use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_schema::v2::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse, ElicitationAction,
    ElicitationMode, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SessionUpdate, UpdateSessionNotification,
};
use agentwire_jsonrpc::{Notification, NotificationMethod, RawJson, Request, RequestMethod, Skipped};
use agentwire_peer::{Handler, Peer, RequestContext};
use futures::future::{Either, select};
use serde::de::DeserializeOwned;

use super::rules::options;
use super::{Agent, Client, Context, Shared};
use crate::Error;
use crate::decode::{decode, decode_or_give_back};
use crate::rules::chosen_option;

/// Puts a [`Client`] behind a connection.
pub(crate) struct Dispatch<C> {
    client: C,
    shared: Arc<Shared>,
    /// How much memory a message may take once decoded.
    value_limit: usize,
}

impl<C: Client> Dispatch<C> {
    pub(crate) fn new(client: C, shared: Arc<Shared>, value_limit: usize) -> Self {
        Self { client, shared, value_limit }
    }

    fn agent(&self, peer: &Peer) -> Agent {
        Agent::new(peer.clone(), self.shared.clone())
    }

    async fn dispatch(&self, request: Request, context: Context) -> Result<RawJson, Error> {
        let Request { method, params, .. } = request;
        let peer = context.request.peer().clone();
        match &*method {
            RequestPermissionRequest::NAME => {
                let response = self.permission(self.decode(&method, params)?, context).await?;
                peer.encode_answer(&response).map_err(Error::internal_error)
            }
            CreateElicitationRequest::NAME => {
                if self.shared.greeting.client().is_none_or(|client| client.elicitation.is_none()) {
                    return Err(Error::method_not_found(&method));
                }
                let response = self.elicitation(self.decode(&method, params)?, context).await?;
                peer.encode_answer(&response).map_err(Error::internal_error)
            }
            method => self.client.extension_request(method, params, context).await,
        }
    }

    /// Decodes params, and tells the client what was left out of them.
    fn decode<P: DeserializeOwned>(&self, method: &str, params: Option<RawJson>) -> Result<P, Error> {
        decode(params, self.value_limit, |skipped| self.client.skipped(method, skipped))
    }

    async fn permission(
        &self,
        request: RequestPermissionRequest,
        context: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        if context.is_cancelled() {
            return Ok(RequestPermissionResponse::cancelled());
        }
        let offered: Vec<_> = request.options.iter().map(|option| option.option_id.clone()).collect();
        let cancelled = context.cancelled();
        let answer = pin!(self.client.request_permission(request, context));
        let response = match select(cancelled, answer).await {
            Either::Left(_) => return Ok(RequestPermissionResponse::cancelled()),
            Either::Right((answer, _)) => answer?,
        };
        match &response.outcome {
            RequestPermissionOutcome::Selected(selected) => chosen_option(&selected.option_id, &offered)?,
            RequestPermissionOutcome::Cancelled(_) => {}
            _ => return Err(Error::internal_error("the client gave an outcome that nobody knows")),
        }
        Ok(response)
    }

    async fn elicitation(
        &self,
        request: CreateElicitationRequest,
        context: Context,
    ) -> Result<CreateElicitationResponse, Error> {
        let client = self.shared.greeting.client();
        let offered = client.as_ref().and_then(|client| client.elicitation.as_ref());
        let (mode, takes, visit) = match &request.mode {
            ElicitationMode::Form(_) => ("form", offered.is_some_and(|offered| offered.form.is_some()), None),
            ElicitationMode::Url(url) => (
                "url",
                offered.is_some_and(|offered| offered.url.is_some()),
                Some(url.elicitation_id.clone()),
            ),
            _ => ("that", false, None),
        };
        if !takes {
            return Err(Error::invalid_params(format_args!("this client does not take {mode} mode")));
        }
        if let Some(id) = &visit {
            self.shared.elicitations.begin(id);
        }
        let answer = self.client.create_elicitation(request, context).await;
        let agreed =
            answer.as_ref().is_ok_and(|answer| matches!(answer.action, ElicitationAction::Accept(_)));
        if let (Some(id), false) = (&visit, agreed) {
            self.shared.elicitations.end(id);
        }
        answer
    }

    /// Reads an update. Its text is gone before anybody hears of it, since both may be long.
    fn read_update(&self, params: Option<RawJson>) {
        let bytes = params.as_ref().map_or(0, RawJson::len);
        let tell = |skipped| self.client.skipped(UpdateSessionNotification::NAME, skipped);
        match decode_or_give_back(params, self.value_limit, tell) {
            Ok(update) => self.update(update, bytes),
            Err((params, why)) => self.client.unreadable_update(params, &why),
        }
    }

    /// Passes an update, which came in so many bytes, on to those who read the session, and then to the client.
    fn update(&self, notification: UpdateSessionNotification, bytes: usize) {
        let UpdateSessionNotification { session_id, update, .. } = &notification;
        if let SessionUpdate::ConfigOptionUpdate(update) = update {
            self.shared.offers.options_updated(session_id, options(&update.config_options));
        }
        self.shared.states.hear(session_id, update);
        self.shared.readers.hear(session_id, update, bytes);
        self.client.session_update(notification);
    }
}

impl<C: Client> Handler for Dispatch<C> {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let context = Context { agent: self.agent(context.peer()), request: context };
        // Boxed, since it is as large as the largest of all methods.
        Box::pin(self.dispatch(request, context))
    }

    fn notification(&self, notification: Notification, peer: &Peer) {
        let Notification { method, params, .. } = notification;
        match &*method {
            UpdateSessionNotification::NAME => self.read_update(params),
            CompleteElicitationNotification::NAME => {
                if let Ok::<CompleteElicitationNotification, _>(complete) = self.decode(&method, params)
                    && self.shared.elicitations.end(&complete.elicitation_id)
                {
                    self.client.complete_elicitation(complete);
                }
            }
            method if method.starts_with("$/") => {}
            method => self.client.extension_notification(method, params, &self.agent(peer)),
        }
    }

    fn skipped(&self, method: &str, skipped: Skipped) {
        self.client.skipped(method, skipped);
    }

    fn unreadable(&self, error: Error) {
        self.client.unreadable_message(&error);
    }
}
