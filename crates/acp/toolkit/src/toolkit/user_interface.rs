//! The interface to the user: decisions and the view.

use std::future::{Future, ready};

use agentwire_acp_schema::v1::{
    CreateElicitationResponse, ElicitationId, RequestPermissionRequest, RequestPermissionResponse, SessionId,
    SessionNotification,
};
use agentwire_jsonrpc::{ErrorObject as Error, RawJson, Skipped};

use crate::{Applied, Conversation, Form, UrlConsent};

/// The user's decisions, and the view. A [`Toolkit`](crate::Toolkit) calls it.
///
/// ```
/// use agentwire_acp_client::Error;
/// use agentwire_acp_schema::v1::{RequestPermissionRequest, RequestPermissionResponse, SessionId};
/// use agentwire_acp_toolkit::{Applied, Conversation, PermissionPrompt, UserInterface};
/// use tokio::io::{BufReader, Stderr, Stdin};
///
/// struct Console(PermissionPrompt<BufReader<Stdin>, Stderr>);
///
/// impl UserInterface for Console {
///     async fn choose_permission(
///         &self,
///         request: &RequestPermissionRequest,
///     ) -> Result<RequestPermissionResponse, Error> {
///         self.0.ask(request).await
///     }
///     fn show(&self, session: &SessionId, _: &Conversation, applied: &Applied) {
///         eprintln!("{session:?}: {:?}", applied.change);
///     }
/// }
/// ```
///
/// The first four methods are the interface. The others report events that a program may want to log; their defaults do
/// nothing.
pub trait UserInterface: Send + Sync {
    /// Lets the user choose an option of a permission request. Called only if no rule, earlier decision or policy decides; see
    /// [`Permissions`](crate::Permissions). [`Choices`](crate::Choices) makes a menu.
    ///
    /// The future is dropped when the turn is cancelled.
    fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> impl Future<Output = Result<RequestPermissionResponse, Error>> + Send;

    /// Called when a conversation has changed. `applied` names the part to draw, and counts dropped entries and bytes left out.
    ///
    /// A panic in it ends nothing else: the panic hook reports it.
    ///
    /// It is called in the order of the updates, and must not call the toolkit: the conversations are locked. It may use a clone
    /// of the [`Workspaces`](crate::Workspaces), such as for the output of a terminal so far
    /// ([`Terminals::shown`](crate::Terminals::shown)). A message of the user is one that the program has sent, or one that is
    /// replayed by [`load_session`](crate::Toolkit::load_session), which is before that call is answered.
    fn show(&self, session: &SessionId, conversation: &Conversation, applied: &Applied);

    /// Lets the user fill in a form. The default declines.
    fn fill_form(
        &self,
        message: &str,
        form: Form,
    ) -> impl Future<Output = Result<CreateElicitationResponse, Error>> + Send {
        let _ = (message, form);
        ready(Ok(CreateElicitationResponse::decline()))
    }

    /// Asks the user for consent to visit a URL, and opens it. The default declines.
    fn open_url(
        &self,
        message: &str,
        consent: UrlConsent,
    ) -> impl Future<Output = Result<CreateElicitationResponse, Error>> + Send {
        let _ = (message, consent);
        ready(Ok(CreateElicitationResponse::decline()))
    }

    /// Called when the user has finished at a URL.
    fn url_completed(&self, id: &ElicitationId) {
        let _ = id;
    }

    /// Takes an update of version 1 before the conversation applies it. `None` keeps it out of the conversation.
    ///
    /// It also gets the replay of [`load_session`](crate::Toolkit::load_session), before that call is answered. It does not get
    /// updates that [`reload_session`](crate::Toolkit::reload_session) leaves out after a restart.
    fn intercept_update(&self, notification: SessionNotification) -> Option<SessionNotification> {
        Some(notification)
    }

    /// Called when an agent of version 1 asks for permission, before the decision.
    fn permission_requested(&self, request: &RequestPermissionRequest) {
        let _ = request;
    }

    /// Called before a permission request of version 1 is answered.
    ///
    /// # Errors
    ///
    /// The error is sent in place of the answer.
    fn permission_answered(
        &self,
        request: RequestPermissionRequest,
        response: &RequestPermissionResponse,
    ) -> Result<(), Error> {
        let _ = (request, response);
        Ok(())
    }

    /// Called for an update that cannot be read; see
    /// [`Client::unreadable_update`](agentwire_acp_client::Client::unreadable_update).
    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        let _ = (params, why);
    }

    /// Called for a message that cannot be read; see
    /// [`Client::unreadable_message`](agentwire_acp_client::Client::unreadable_message).
    fn unreadable_message(&self, why: &Error) {
        let _ = why;
    }

    /// Called when parts of a message were left out; see [`Client::skipped`](agentwire_acp_client::Client::skipped).
    fn skipped(&self, method: &str, skipped: Skipped) {
        let _ = (method, skipped);
    }
}
