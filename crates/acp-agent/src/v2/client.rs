use std::sync::{Arc, OnceLock};

use agentwire_acp_schema::v2::{
    ClientCapabilities, CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    ElicitationMode, ElicitationScope, Implementation, InitializeRequest, InitializeResponse,
    RequestPermissionRequest, RequestPermissionResponse, RequestPermissionSubject, SessionId, SessionUpdate,
    UpdateSessionNotification,
};
use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{Call, CallError, Notify, Peer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::outgoing;
use super::question::Question;
use super::running::ForegroundWork;
use super::sessions::Sessions;
use super::update::Update;
use super::work::Work;
use crate::method::Checked;
use crate::outgoing::{extension, not_advertised, permission_options, url};

/// What a connection knows.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// What both sides have said in `initialize`; none until it has succeeded.
    pub(crate) agreed: OnceLock<Agreed>,
    pub(crate) sessions: Sessions,
}

/// What both sides have said in `initialize`.
#[derive(Debug)]
pub(crate) struct Agreed {
    pub(crate) client: InitializeRequest,
    pub(crate) agent: InitializeResponse,
}

/// The editor at the other end: what an agent of version 2 tells and asks it.
///
/// A method that the client did not advertise is refused here, without being sent; so are a path that is not absolute
/// and whatever is said of a session that is closed.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) peer: Peer,
    pub(crate) shared: Arc<Shared>,
    /// The prompt in the course of which this handle speaks.
    pub(crate) work: Option<Arc<Work>>,
}

impl Client {
    /// What the client can do. None before `initialize` has been answered.
    pub fn capabilities(&self) -> Option<&ClientCapabilities> {
        self.shared.agreed.get().map(|agreed| &agreed.client.capabilities)
    }

    /// What the client is. None before `initialize` has been answered.
    pub fn info(&self) -> Option<&Implementation> {
        self.shared.agreed.get().map(|agreed| &agreed.client.info)
    }

    /// The same client for work that does not end with the prompt: what is asked through this is not withdrawn when the
    /// prompt is cancelled.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self { peer: self.peer.unrelated(), shared: self.shared.clone(), work: None }
    }

    /// Begins work in the foreground of a session that no prompt has asked for: the client is told that the session is
    /// running, and that it is idle when this work and all other has ended.
    ///
    /// # Errors
    ///
    /// When the session is closed, or is being closed.
    pub fn begin_work(&self, session_id: impl Into<SessionId>) -> Result<ForegroundWork, CallError> {
        let session = session_id.into();
        ForegroundWork::begin(self, &session).ok_or_else(|| {
            CallError::not_allowed(
                UpdateSessionNotification::NAME,
                format!("the session {session:?} is closed"),
            )
        })
    }

    /// `session/update`: tells what happens in a session. Awaiting it waits while much is still to be sent, which is
    /// what keeps an agent from filling its memory for a client that is slow.
    ///
    /// States need be told only by an agent that waits for the person (`requires_action`) or that has work in the
    /// background to list: that a prompt is at work, or what [`begin_work`](Self::begin_work) gave, and why that ended is
    /// told anyway.
    pub fn session_update(&self, notification: UpdateSessionNotification) -> Update<'_> {
        let notify = match outgoing::update(&notification.update) {
            Ok(()) => self.peer.notify(&notification),
            Err(why) => self.peer.refuse_notify(CallError::not_allowed(UpdateSessionNotification::NAME, why)),
        };
        Update { sessions: &self.shared.sessions, notification, notify }
    }

    /// Checks an update as [`session_update`](Self::session_update) does, without sending it. An agent that stores an
    /// update before it sends it calls this first.
    ///
    /// # Errors
    ///
    /// [`CallError::NotAllowed`] where `session_update` would refuse the update, whatever its session.
    pub fn check_update(&self, update: &SessionUpdate) -> Result<(), CallError> {
        outgoing::update(update).map_err(|why| CallError::not_allowed(UpdateSessionNotification::NAME, why))
    }

    /// `session/request_permission`: asks the user. When the prompt that this handle belongs to is cancelled, the
    /// question is withdrawn and the answer is that it was cancelled.
    pub fn request_permission(
        &self,
        request: RequestPermissionRequest,
    ) -> Question<RequestPermissionResponse> {
        let checked = self.shared.sessions.check_open(&request.session_id);
        let checked = checked.and_then(|()| permission_options(&request.options));
        let checked = checked.and_then(|()| outgoing::subject(request.subject.as_ref()));
        if checked.is_ok()
            && let Some(RequestPermissionSubject::ToolCall(subject)) = &request.subject
        {
            self.shared.sessions.note_call(&request.session_id, &subject.tool_call);
        }
        self.question(&request, checked, RequestPermissionResponse::cancelled)
    }

    /// `elicitation/create`: asks the user for something else than a permission. When the prompt that this handle
    /// belongs to is cancelled, the question is withdrawn and the answer is that it was cancelled.
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
            ElicitationMode::Url(mode) => url(&mode.url),
            _ => Ok(()),
        });
        let checked = checked.and_then(|()| match session(scope) {
            Some(session) => self.shared.sessions.check_open(session),
            None => Ok(()),
        });
        self.question(&request, checked, CreateElicitationResponse::cancel)
    }

    /// `elicitation/complete`: tells that what the user did at a URL is done.
    pub fn complete_elicitation(&self, notification: CompleteElicitationNotification) -> Notify<'_> {
        let can = self.capabilities().and_then(|client| client.elicitation.as_ref());
        if can.is_some_and(|can| can.url.is_some()) {
            return self.peer.notify(&notification);
        }
        let why = not_advertised("elicitation.url");
        self.peer.refuse_notify(CallError::not_allowed(CompleteElicitationNotification::NAME, why))
    }

    /// A request of one's own; its name begins with `_`, else it is refused without being sent.
    pub fn extension_request<P, R>(&self, method: &str, params: &P) -> Call<R>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned + Send + 'static,
    {
        match extension(method) {
            Ok(()) => self.peer.call_method(method, Some(params)),
            Err(why) => self.peer.refuse_call(why),
        }
    }

    /// A notification of one's own; its name begins with `_`, else it is refused without being sent.
    pub fn extension_notification<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Notify<'_> {
        match extension(method) {
            Ok(()) => self.peer.notify_method(method, Some(params)),
            Err(why) => self.peer.refuse_notify(why),
        }
    }

    /// Whether the connection is over.
    pub fn is_closed(&self) -> bool {
        self.peer.is_closed()
    }

    fn question<M: RequestMethod>(
        &self,
        request: &M,
        checked: Checked,
        instead: fn() -> M::Response,
    ) -> Question<M::Response> {
        let call = match checked {
            Ok(()) => self.peer.call(request),
            Err(why) => self.peer.refuse_call(CallError::not_allowed(M::NAME, why)),
        };
        Question::new(call, self.work.as_ref().map(|work| work.over()), instead)
    }
}

fn session(scope: Option<&ElicitationScope>) -> Option<&SessionId> {
    match scope? {
        ElicitationScope::Session(scope) => Some(&scope.session_id),
        _ => None,
    }
}
