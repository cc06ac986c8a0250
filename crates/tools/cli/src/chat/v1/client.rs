//! Our client for an agent of version 1: the part of a [`Toolkit`] that asks the user and shows the conversation.

use std::io;
use std::sync::Arc;

use agentwire_acp_client::{Call, Error};
use agentwire_acp_schema::v1::{
    ClientCapabilities, CreateElicitationResponse, ElicitationId, NewSessionRequest, NewSessionResponse,
    RequestPermissionRequest, RequestPermissionResponse, SessionId, SessionNotification, SessionUpdate,
    TerminalId,
};
use agentwire_acp_toolkit::{
    Applied, Conversation, Form, ShownOutput, Toolkit, Update, UrlConsent, UserInterface, Workspace,
    Workspaces,
};
use agentwire_jsonrpc::{RawJson, Skipped};
use serde_json::json;

use crate::chat::permissions::{PermissionChecker, all_asked};
use crate::chat::session::per_session::SessionChange;
use crate::chat::session::setup::{SessionSetup, check_id, ignore_output_error};
use crate::chat::view::display::Display;
use crate::chat::view::update_text::shown_parts;
use crate::terminal::{User, View};

/// The client. Clones share everything.
#[derive(Clone)]
pub(in crate::chat) struct Client(Arc<Inner>);

struct Inner {
    view: Arc<View>,
    /// None where there is no person to ask.
    user: Option<User>,
    permissions: Arc<PermissionChecker>,
    workspaces: Workspaces,
    setup: SessionSetup<NewSessionResponse>,
    display: Arc<Display>,
}

impl Client {
    /// A client, with files and terminals within the session's roots as far as the rules let the agent use them, and with
    /// elicitations where a person can answer.
    pub(in crate::chat) fn toolkit(
        view: Arc<View>,
        user: Option<User>,
        permissions: Arc<PermissionChecker>,
        display: Arc<Display>,
    ) -> Toolkit<Self> {
        let (workspaces, is_there) = (permissions.workspaces(), user.is_some());
        let may_read = permissions.may_read();
        let (may_write, may_execute) = (permissions.may_write(), permissions.may_execute());
        let client = Self(Arc::new(Inner {
            view,
            user,
            permissions,
            workspaces: workspaces.clone(),
            setup: SessionSetup::new(|opened: &NewSessionResponse| &opened.session_id),
            display,
        }));
        let mut toolkit = Toolkit::new(client).with_workspaces(workspaces).with_permissions(all_asked());
        if !may_read {
            toolkit = toolkit.without_files();
        }
        if !may_write {
            toolkit = toolkit.without_file_writes();
        }
        if !may_execute {
            toolkit = toolkit.without_terminals();
        }
        if !is_there {
            toolkit = toolkit.without_forms().without_urls();
        }
        toolkit
    }

    /// The capabilities of a toolkit, with logins in our terminal where a person can be asked. The members of `_meta` ask for the
    /// output of the commands that the agent runs by itself: agents send it in the `_meta` of updates to such a client.
    pub(in crate::chat) fn capabilities(toolkit: &Toolkit<Self>) -> ClientCapabilities {
        let mut capabilities = toolkit.capabilities();
        capabilities.auth.terminal = toolkit.user_interface().0.user.is_some();
        let meta = capabilities.meta.get_or_insert_default();
        meta.insert("terminal_output", json!(true));
        meta.insert("terminal_output_delta", json!(true));
        capabilities
    }

    /// Follows a change of the session.
    pub(super) fn session_changes(&self, change: SessionChange) {
        self.0.setup.follow(change);
        self.0.permissions.follow(change);
        self.0.display.follow(change);
    }

    /// Opens the workspace of an existing session, and shows the session's updates from now on.
    pub(super) fn open(&self, session: &SessionId, workspace: impl Into<Workspace>) {
        // Opening a workspace again would end the commands that run in it, and the session may go on as it is.
        if self.0.workspaces.of(session).is_err() {
            self.0.workspaces.open(session, workspace);
        }
        self.0.setup.open(session);
    }

    /// Opens the workspace of a new session when the answer arrives, so that the agent may work in it at once.
    pub(super) fn opens_workspace(
        &self,
        call: Call<NewSessionResponse>,
        request: NewSessionRequest,
    ) -> Call<NewSessionResponse> {
        let workspaces = self.0.workspaces.clone();
        let call = call.on_answer(move |opened| {
            if check_id(&opened.session_id).is_ok() {
                workspaces.open(&opened.session_id, &request);
            }
        });
        self.0.setup.keep(call, |opened| {
            let left = NewSessionResponse::new(&opened.session_id);
            (opened, left)
        })
    }

    /// Where the answer that opens the session is kept.
    pub(super) fn setup(&self) -> &SessionSetup<NewSessionResponse> {
        &self.0.setup
    }

    /// Shows the answer that opens the session, if it has arrived and was not shown.
    pub(super) fn take_opened(&self) -> io::Result<()> {
        let Some(opened) = self.0.setup.take(&self.0.view)? else { return Ok(()) };
        let NewSessionResponse { modes, config_options, .. } = opened;
        let applied = self.conversation(|conversation| conversation.opened(modes, config_options));
        self.0.display.opened(applied)
    }

    /// What is shown of the session.
    pub(super) fn display(&self) -> &Display {
        &self.0.display
    }

    /// The conversation as it is now.
    pub(super) fn conversation<R>(&self, look: impl FnOnce(&mut Conversation) -> R) -> R {
        self.0.display.conversation(look)
    }

    /// Called when a turn has ended. A failed turn counts as cancelled.
    pub(super) fn turn_ended(&self, was_cancelled: bool) -> io::Result<()> {
        self.0.display.turn_ended(was_cancelled, &|id, position| self.own_output(id, position))
    }

    /// Shows what the commands that we run for the agent have written meanwhile.
    pub(super) fn show_running(&self) -> io::Result<()> {
        self.0.display.show_running(&|id, position| self.own_output(id, position))
    }

    /// Applies and shows an answer with the content of an update.
    pub(super) fn apply(&self, update: impl Into<Update>) -> io::Result<()> {
        let applied = self.conversation(|conversation| conversation.apply(update));
        self.0.display.show(&applied, &|id, position| self.own_output(id, position))
    }

    /// What a terminal of the session wrote since a position, also after the agent has released it.
    fn own_output(&self, id: &TerminalId, position: u64) -> Option<ShownOutput> {
        let workspace = self.0.workspaces.of(&self.0.setup.session()?).ok()?;
        workspace.terminals().shown_since(id, position)
    }

    /// Applies and shows an update.
    fn update(&self, update: SessionUpdate) -> io::Result<()> {
        self.0.display.update(update, &|id, position| self.own_output(id, position))
    }
}

/// Whether an update changes what the person can set or complete.
fn is_setting(update: &SessionUpdate) -> bool {
    matches!(
        update,
        SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::CurrentModeUpdate(_)
            | SessionUpdate::AvailableCommandsUpdate(_)
    )
}

impl UserInterface for Client {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        self.0.permissions.answer(request, self.0.setup.is_ours(&request.session_id)).await
    }

    /// Does nothing: `intercept_update` takes every update before the toolkit's own conversations.
    fn show(&self, _: &SessionId, _: &Conversation, _: &Applied) {}

    async fn fill_form(&self, message: &str, form: Form) -> Result<CreateElicitationResponse, Error> {
        match &self.0.user {
            Some(user) => user.fill_in(message, form, &[]).await,
            None => Ok(CreateElicitationResponse::decline()),
        }
    }

    async fn open_url(&self, message: &str, consent: UrlConsent) -> Result<CreateElicitationResponse, Error> {
        match &self.0.user {
            Some(user) => user.visit(message, consent).await,
            None => Ok(CreateElicitationResponse::decline()),
        }
    }

    fn url_completed(&self, _: &ElicitationId) {
        ignore_output_error(self.0.view.remark("What was to be done at the URL is done."));
    }

    fn intercept_update(&self, notification: SessionNotification) -> Option<SessionNotification> {
        ignore_output_error(self.take_opened());
        let SessionNotification { session_id, update, .. } = notification;
        let is_ours = self.0.setup.is_ours(&session_id);
        if is_ours {
            self.0.permissions.observe(&update);
        }
        let (apply, is_hidden) = (|update| self.update(update), self.0.display.hides());
        ignore_output_error(self.0.view.update(&session_id, update, is_ours, is_hidden, is_setting, apply));
        None
    }

    fn permission_requested(&self, request: &RequestPermissionRequest) {
        ignore_output_error(self.take_opened());
        if self.0.setup.is_ours(&request.session_id) && !self.0.view.is_json() {
            ignore_output_error(self.update(shown_parts(&request.tool_call).into()));
        }
    }

    fn permission_answered(
        &self,
        request: RequestPermissionRequest,
        response: &RequestPermissionResponse,
    ) -> Result<(), Error> {
        self.0.view.permission(request, response.outcome.clone()).map_err(Error::internal_error)
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
}
