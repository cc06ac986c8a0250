//! The handle through which an agent of version 2 calls its client.

use std::sync::Arc;

use agentwire_acp_schema::v2::{
    ClientCapabilities, CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    ElicitationMode, ElicitationScope, Implementation, RequestPermissionRequest, RequestPermissionResponse,
    RequestPermissionSubject, SessionId, SessionUpdate, UpdateSessionNotification,
};
use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{CallError, Notify, Peer};

use super::connection_state::ConnectionState;
use super::outgoing;
use super::question::Question;
use super::update::Update;
use super::work::Work;
use crate::extension::extension_methods;
use crate::method::CheckResult;
use crate::outgoing::{check_permission_options, check_url, not_advertised};

/// The connected client: the methods that an agent of version 2 calls on it.
///
/// A method that the client did not advertise fails without being sent. So does a request or an
/// update with a relative path or for a closed session.
#[derive(Clone, Debug)]
pub struct RemoteClient {
    pub(crate) peer: Peer,
    pub(crate) state: Arc<ConnectionState>,
    /// The prompt or foreground work whose end withdraws this handle's requests. `None` for a handle that outlives both.
    pub(crate) work: Option<Arc<Work>>,
}

impl RemoteClient {
    /// Returns the client's capabilities, or `None` before `initialize` is answered.
    pub fn capabilities(&self) -> Option<&ClientCapabilities> {
        self.state.handshake.get().map(|handshake| &handshake.client.capabilities)
    }

    /// Returns the client's name and version, or `None` before `initialize` is answered.
    pub fn info(&self) -> Option<&Implementation> {
        self.state.handshake.get().map(|handshake| &handshake.client.info)
    }

    /// Returns a handle whose requests outlive the prompt: cancelling the prompt does not withdraw them.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self { peer: self.peer.unrelated(), state: self.state.clone(), work: None }
    }

    /// `session/update`: sends an update of a session. Awaiting it waits while the send queue is full. This bounds the
    /// agent's memory when the client reads slowly.
    ///
    /// The states `running` and `idle` of prompts and of [`begin_work`](Self::begin_work) are sent automatically. Send
    /// a state only for `requires_action`, or to list background work.
    pub fn session_update(&self, notification: UpdateSessionNotification) -> Update<'_> {
        let notify = match outgoing::check_update(&notification.update) {
            Ok(()) => self.peer.notify(&notification),
            Err(why) => self.peer.refuse_notify(CallError::not_allowed(UpdateSessionNotification::NAME, why)),
        };
        Update { sessions: &self.state.sessions, notification, notify }
    }

    /// Checks an update as [`session_update`](Self::session_update) does, without sending it. An agent that stores an
    /// update before it sends it calls this first.
    ///
    /// # Errors
    ///
    /// [`CallError::NotAllowed`] if `session_update` would refuse the update in an open session.
    pub fn check_update(&self, update: &SessionUpdate) -> Result<(), CallError> {
        outgoing::check_update(update)
            .map_err(|why| CallError::not_allowed(UpdateSessionNotification::NAME, why))
    }

    /// `session/request_permission`: asks the user. When the prompt or work of this handle is cancelled or ends, the request is
    /// withdrawn, and this returns the outcome `cancelled`.
    pub fn request_permission(
        &self,
        request: RequestPermissionRequest,
    ) -> Question<RequestPermissionResponse> {
        let checked = self.state.sessions.check_open(&request.session_id);
        let checked = checked.and_then(|()| check_permission_options(&request.options));
        let checked = checked.and_then(|()| outgoing::check_subject(request.subject.as_ref()));
        if checked.is_ok()
            && let Some(RequestPermissionSubject::ToolCall(subject)) = &request.subject
        {
            self.state.sessions.note_call(&request.session_id, &subject.tool_call);
        }
        self.question(&request, checked, RequestPermissionResponse::cancelled)
    }

    /// `elicitation/create`: asks the user for input other than a permission. When the prompt or work of this handle is
    /// cancelled or ends, the request is withdrawn, and this returns the action `cancel`.
    pub fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
    ) -> Question<CreateElicitationResponse> {
        let can = self.capabilities().and_then(|client| client.elicitation.as_ref());
        let (name, has, scope) = match &request.mode {
            ElicitationMode::Form(form) => {
                ("elicitation.form", can.is_some_and(|can| can.form.is_some()), Some(&form.scope))
            }
            ElicitationMode::Url(url) => {
                ("elicitation.url", can.is_some_and(|can| can.url.is_some()), Some(&url.scope))
            }
            _ => ("elicitation in that mode", false, None),
        };
        let checked = if has { Ok(()) } else { Err(not_advertised(name)) };
        let checked = checked.and_then(|()| match &request.mode {
            ElicitationMode::Url(mode) => check_url(&mode.url),
            _ => Ok(()),
        });
        let checked = checked.and_then(|()| match session(scope) {
            Some(session) => self.state.sessions.check_open(session),
            None => Ok(()),
        });
        self.question(&request, checked, CreateElicitationResponse::cancel)
    }

    /// `elicitation/complete`: reports that the user has completed an elicitation by URL.
    pub fn complete_elicitation(&self, notification: CompleteElicitationNotification) -> Notify<'_> {
        let can = self.capabilities().and_then(|client| client.elicitation.as_ref());
        if can.is_some_and(|can| can.url.is_some()) {
            return self.peer.notify(&notification);
        }
        let why = not_advertised("elicitation.url");
        self.peer.refuse_notify(CallError::not_allowed(CompleteElicitationNotification::NAME, why))
    }

    extension_methods! {}

    fn question<M: RequestMethod>(
        &self,
        request: &M,
        checked: CheckResult,
        instead: fn() -> M::Response,
    ) -> Question<M::Response> {
        let call = match checked {
            Ok(()) => self.peer.call(request),
            Err(why) => self.peer.refuse_call(CallError::not_allowed(M::NAME, why)),
        };
        Question::new(call, self.work.as_ref().map(|work| work.stop_signal()), instead)
    }
}

fn session(scope: Option<&ElicitationScope>) -> Option<&SessionId> {
    match scope? {
        ElicitationScope::Session(scope) => Some(&scope.session_id),
        _ => None,
    }
}
