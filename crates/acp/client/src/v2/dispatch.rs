//! Passes the requests of an agent of version 2 to the client.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use agentwire_acp_schema::v2::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse, ElicitationAction,
    ElicitationMode, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SessionUpdate, UpdateSessionNotification,
};
use agentwire_jsonrpc::{
    Notification, NotificationMethod, RawJson, Request, RequestMethod, Response, Skipped,
};
use agentwire_peer::runtime::describe_unmatched;
use agentwire_peer::{Handler, Peer, RequestContext};
use futures_util::future::{Either, select};
use serde::de::DeserializeOwned;

use super::{AgentHandle, Client, ConnectionState, Context, rules};
use crate::Error;
use crate::decode::{decode, decode_or_give_back};
use crate::dispatcher::dispatcher;
use crate::rules::chosen_option;

dispatcher! { UpdateSessionNotification }

impl<C: Client> Dispatch<C> {
    async fn dispatch(&self, request: Request, context: Context) -> Result<RawJson, Error> {
        let Request { method, params, .. } = request;
        let peer = context.request.peer().clone();
        match &*method {
            RequestPermissionRequest::NAME => {
                let response = self.permission(self.decode(&method, params)?, context).await?;
                peer.encode_result(&response).map_err(Error::internal_error)
            }
            CreateElicitationRequest::NAME => {
                if self.shared.initialized.client().is_none_or(|client| client.elicitation.is_none()) {
                    return Err(Error::method_not_found(&method));
                }
                let response = self.elicitation(self.decode(&method, params)?, context).await?;
                peer.encode_result(&response).map_err(Error::internal_error)
            }
            method => self.client.extension_request(method, params, context).await,
        }
    }

    async fn permission(
        &self,
        request: RequestPermissionRequest,
        context: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        let offered: Vec<_> = request.options.iter().map(|option| option.option_id.clone()).collect();
        let answer = self.ask_permission(request, context).await;
        let response = answer.unwrap_or_else(|| Ok(RequestPermissionResponse::cancelled()))?;
        match &response.outcome {
            RequestPermissionOutcome::Selected(selected) => chosen_option(&selected.option_id, &offered)?,
            RequestPermissionOutcome::Cancelled(_) => {}
            _ => return Err(Error::internal_error("the client gave an outcome that nobody knows")),
        }
        Ok(response)
    }

    /// Records the change that an update makes to the state of its session.
    fn note(&self, notification: &UpdateSessionNotification) {
        let UpdateSessionNotification { session_id, update, .. } = notification;
        if let SessionUpdate::ConfigOptionUpdate(update) = update {
            self.shared.options.set_updated(session_id, rules::options(&update.config_options));
        }
        self.shared.states.note(session_id, update);
    }

    /// A prompt is answered when its work begins, so a late answer ends no turn.
    fn late_answer(&self, _: &Response) {}
}
