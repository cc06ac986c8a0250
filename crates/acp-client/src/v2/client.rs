use std::future::Future;

use agentwire_acp_schema::v2::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    RequestPermissionRequest, RequestPermissionResponse, UpdateSessionNotification,
};
use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped};

use super::{Agent, Context};
use crate::Error;

/// A client: what an agent asks of the editor in version 2.
///
/// Only what every client must answer has no default. Methods run at the same time, and each may call the agent
/// and wait for it. Nothing needs to be `Send` unless the future of [`connect`](super::connect) is to be spawned.
pub trait Client {
    /// `session/update`: hears what happens in a session. Updates come one by one, in order, and all of a
    /// turn's come before it ends; so this must not take long.
    fn session_update(&self, notification: UpdateSessionNotification);

    /// `session/request_permission`: asks the user. Once the agent takes the request back this is dropped, and the
    /// answer says that it was cancelled.
    fn request_permission(
        &self,
        request: RequestPermissionRequest,
        context: Context,
    ) -> impl Future<Output = Result<RequestPermissionResponse, Error>>;

    /// `elicitation/create`: asks the user for something else. Advertised by `elicitation.form` and
    /// `elicitation.url`, each for its mode.
    fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
        context: Context,
    ) -> impl Future<Output = Result<CreateElicitationResponse, Error>> {
        let _ = (request, context);
        std::future::ready(Err(Error::method_not_found(CreateElicitationRequest::NAME)))
    }

    /// `elicitation/complete`: hears that what the user did at a URL is done. Only of URLs that the user agreed to
    /// visit, or is being asked about, and once of each.
    fn complete_elicitation(&self, notification: CompleteElicitationNotification) {
        let _ = notification;
    }

    /// A request that the protocol does not know.
    fn extension_request(
        &self,
        method: &str,
        params: Option<RawJson>,
        context: Context,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let _ = (params, context);
        std::future::ready(Err(Error::method_not_found(method)))
    }

    /// A notification that the protocol does not know. It is passed over unless this is written.
    fn extension_notification(&self, method: &str, params: Option<RawJson>, agent: &Agent) {
        let _ = (method, params, agent);
    }

    /// An update that cannot be read: it is no `session/update` of this version. It is passed over unless this
    /// is written. An update of a kind that nobody knows is not among these; it has a variant of its own.
    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        let _ = (params, why);
    }

    /// A message that cannot be read and belongs to no call, such as a line over the limit. What it said is lost; it may
    /// have been an update. It is passed over unless this is written.
    fn unreadable_message(&self, why: &Error) {
        let _ = why;
    }

    /// Parts of a message that cannot be read: items of lists, and optional members. The message, which belongs to
    /// `method`, is taken without them: that of an update or of a request just after this, that of an answer just before.
    /// It is passed over unless this is written.
    fn skipped(&self, method: &str, skipped: Skipped) {
        let _ = (method, skipped);
    }
}
