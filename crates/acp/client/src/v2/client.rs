//! The trait of a client of version 2.

use agentwire_acp_schema::v2::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    RequestPermissionRequest, RequestPermissionResponse, UpdateSessionNotification,
};
use agentwire_jsonrpc::{RawJson, Skipped};

use super::{AgentHandle, Context};
use crate::Error;
use crate::client::not_found;

agentwire_peer::method_trait! {
    /// A client: the methods that an agent calls in version 2.
    ///
    /// Only the methods that every client must have are required. Methods run concurrently. Each may call the agent and wait
    /// for the answer.
    ///
    /// Implement the methods as `async fn`. Their futures are `Send`, so code that is generic over `C: Client + 'static` can
    /// spawn the future of [`connect`](super::connect) or [`start`](super::start). `&C`, `Box<C>` and `Arc<C>` implement
    /// `Client` if `C` does, and so do `Box<dyn Client>` and `Arc<dyn Client>`, for a client that is chosen at run time. Each
    /// request through a pointer costs one allocation more.
    pub trait Client;

    requests:

    /// `session/request_permission`: asks the user. When the agent withdraws the request the future is dropped, and the
    /// outcome is `cancelled`.
    async fn request_permission(request: RequestPermissionRequest, context: Context)
        -> Result<RequestPermissionResponse, Error>;

    /// `elicitation/create`: asks the user for anything but a permission. Advertised by `elicitation.form` and
    /// `elicitation.url`, each for its mode.
    async fn create_elicitation(request: CreateElicitationRequest, context: Context)
        -> Result<CreateElicitationResponse, Error>
        = not_found(&request);

    notifications:

    /// `session/update`: called for each update of a session, one by one, in order. It must not take long, because a turn ends
    /// only after it was called for all updates of the turn.
    fn session_update(notification: UpdateSessionNotification);

    /// `elicitation/complete`: called when the user has done what an elicitation's URL was for. Called only for URLs that the
    /// user agreed to visit, or is being asked about, and once for each.
    fn complete_elicitation(notification: CompleteElicitationNotification) = ();

    /// Called for a `session/update` that cannot be decoded or exceeds [`Config::value_limit`](crate::Config::value_limit). The
    /// default ignores it. An update of an unknown
    /// kind is not among these; it has a variant of its own.
    fn unreadable_update(params: Option<RawJson>, why: &Error) = ();

    /// Called for a message that cannot be read, such as a line over the limit, and for an answer whose id belongs to no
    /// open call. Its content is lost; it may have been an update. The default ignores it.
    fn unreadable_message(why: &Error) = ();

    /// Called for parts of a message of `method` that cannot be read: items of lists, and optional members. The message is
    /// used without them. For an update or a request this is called just before, for an answer just after. The default
    /// ignores them.
    fn skipped(method: &str, skipped: Skipped) = ();

    extensions(Context, agent: &AgentHandle)
}
