//! Our client for an agent of version 2: it shows the conversation, and answers the agent's questions. Files and terminals are
//! the agent's own.

use std::io;
use std::sync::Arc;

use agentwire_acp_client::Error;
use agentwire_acp_client::v2::{self, Context};
use agentwire_acp_schema::v1;
use agentwire_acp_schema::v2::{
    AvailableCommandsUpdate, ClientAuthCapabilities, ClientCapabilities, ConfigOptionUpdate,
    CreateElicitationRequest, CreateElicitationResponse, NewSessionResponse, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, RequestPermissionSubject, SessionConfigOption,
    SessionUpdate, TerminalAuthCapabilities, UpdateSessionNotification,
};
use agentwire_acp_toolkit::{Conversation, permission_question};
use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped};

use super::elicitation;
use crate::chat::permissions::PermissionChecker;
use crate::chat::session::per_session::SessionChange;
use crate::chat::session::setup::{SessionSetup, ignore_output_error};
use crate::chat::view::display::Display;
use crate::terminal::{User, View};

/// The client. Clones share everything.
#[derive(Clone)]
pub(in crate::chat) struct Client(Arc<Inner>);

struct Inner {
    view: Arc<View>,
    /// None where there is no person to ask.
    user: Option<User>,
    permissions: Arc<PermissionChecker>,
    setup: SessionSetup<NewSessionResponse>,
    display: Arc<Display>,
}

impl Client {
    pub(in crate::chat) fn new(
        view: Arc<View>,
        user: Option<User>,
        permissions: Arc<PermissionChecker>,
        display: Arc<Display>,
    ) -> Self {
        Self(Arc::new(Inner {
            view,
            user,
            permissions,
            setup: SessionSetup::new(|opened: &NewSessionResponse| &opened.session_id),
            display,
        }))
    }

    /// Its capabilities: elicitations, and logins in our terminal, where a person can answer.
    pub(in crate::chat) fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::new();
        let is_there = self.0.user.is_some();
        capabilities.elicitation = is_there.then(elicitation::capabilities);
        let terminal = ClientAuthCapabilities::new().terminal(TerminalAuthCapabilities::new());
        capabilities.auth = is_there.then_some(terminal);
        capabilities
    }

    /// Follows a change of the session.
    pub(super) fn session_changes(&self, change: SessionChange) {
        self.0.setup.follow(change);
        self.0.permissions.follow(change);
        self.0.display.follow(change);
    }

    /// Where the answer that opens the session is kept.
    pub(super) fn setup(&self) -> &SessionSetup<NewSessionResponse> {
        &self.0.setup
    }

    /// Shows the answer that opens the session, if it has arrived and was not shown.
    pub(super) fn take_opened(&self) -> io::Result<()> {
        let Some(opened) = self.0.setup.take(&self.0.view)? else { return Ok(()) };
        // Lists may be left out. Earlier updates may have brought them.
        if !opened.available_commands.is_empty() {
            self.update(AvailableCommandsUpdate::new(opened.available_commands).into())?;
        }
        if !opened.config_options.is_empty() {
            let update = SessionUpdate::from(ConfigOptionUpdate::new(opened.config_options));
            let applied = self.conversation(|conversation| conversation.apply(update));
            self.0.display.opened(applied)?;
        }
        Ok(())
    }

    /// What is shown of the session.
    pub(super) fn display(&self) -> &Display {
        &self.0.display
    }

    /// The conversation as it is now.
    pub(super) fn conversation<R>(&self, look: impl FnOnce(&mut Conversation) -> R) -> R {
        self.0.display.conversation(look)
    }

    /// Replaces the options, and shows the new values.
    pub(super) fn set_options(&self, options: Vec<SessionConfigOption>) -> io::Result<()> {
        self.update(ConfigOptionUpdate::new(options).into())
    }

    fn update(&self, update: SessionUpdate) -> io::Result<()> {
        self.0.display.update_v2(update)
    }
}

impl v2::Client for Client {
    fn session_update(&self, notification: UpdateSessionNotification) {
        ignore_output_error(self.take_opened());
        let UpdateSessionNotification { session_id, update, .. } = notification;
        let is_ours = self.0.setup.is_ours(&session_id);
        if is_ours {
            self.0.permissions.observe_v2(&update);
        }
        let (apply, is_hidden) = (|update| self.update(update), self.0.display.hides());
        ignore_output_error(self.0.view.update(&session_id, update, is_ours, is_hidden, is_setting, apply));
    }

    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        ignore_output_error(self.0.view.unreadable_update(params, why));
    }

    fn unreadable_message(&self, why: &Error) {
        ignore_output_error(self.0.view.unreadable_message(why));
    }

    fn skipped(&self, method: &str, skipped: Skipped) {
        ignore_output_error(self.0.view.skipped(method, &skipped));
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        ignore_output_error(self.take_opened());
        let is_ours = self.0.setup.is_ours(&request.session_id);
        // For programs the whole request is printed afterwards. It may be large: it is copied only for rules.
        let (question, printed) = match self.0.view.is_json() {
            true if self.0.permissions.has_rules() => (permission_question(request.clone()), Some(request)),
            true => (bare_question(&request), Some(request)),
            false => (permission_question(request), None),
        };
        let answer = self.0.permissions.answer(&question, is_ours).await?;
        let outcome = match answer.outcome {
            v1::RequestPermissionOutcome::Selected(selected) => RequestPermissionOutcome::from(selected),
            _ => RequestPermissionResponse::cancelled().outcome,
        };
        if let Some(request) = printed {
            self.0.view.permission(request, outcome.clone()).map_err(Error::internal_error)?;
        }
        Ok(RequestPermissionResponse::new(outcome))
    }

    async fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
        _: Context,
    ) -> Result<CreateElicitationResponse, Error> {
        match &self.0.user {
            Some(user) => elicitation::answer(user, request).await,
            None => Err(Error::method_not_found(CreateElicitationRequest::NAME)),
        }
    }
}

/// Whether an update changes what the person can set or complete.
fn is_setting(update: &SessionUpdate) -> bool {
    matches!(update, SessionUpdate::ConfigOptionUpdate(_) | SessionUpdate::AvailableCommandsUpdate(_))
}

/// A permission request of version 1 with only the title, the kind and the options, for an answer that depends on no more.
fn bare_question(request: &RequestPermissionRequest) -> v1::RequestPermissionRequest {
    let mut call = v1::ToolCallUpdate::new("").title(&request.title);
    match &request.subject {
        Some(RequestPermissionSubject::ToolCall(subject)) => {
            call.tool_call_id = subject.tool_call.tool_call_id.clone();
            call.kind = subject.tool_call.kind.value().cloned();
        }
        Some(RequestPermissionSubject::Command(_)) => call.kind = Some(v1::ToolKind::Execute),
        _ => {}
    }
    v1::RequestPermissionRequest::new(&request.session_id, call, request.options.clone())
}
