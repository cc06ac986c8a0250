//! Our client for an agent of either version: the part of a [`Toolkit`] that asks the user and shows the conversation.

use std::io;
use std::sync::Arc;

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::{
    CreateElicitationResponse, ElicitationId, RequestPermissionRequest, RequestPermissionResponse, SessionId,
    SessionNotification, SessionUpdate, TerminalId,
};
use agentwire_acp_toolkit::{
    Applied, Conversation, Form, ShownOutput, Toolkit, Update, UrlConsent, UserInterface, Workspace,
    Workspaces,
};
use agentwire_jsonrpc::{RawJson, Skipped};
use serde::Serialize;

use super::permissions::{PermissionChecker, all_asked};
use super::session::per_session::SessionChange;
use super::session::setup::{SessionSetup, ignore_output_error};
use super::view::display::Display;
use super::view::update_text::shown_parts;
use crate::terminal::{User, View};

/// An update in the types of one version.
pub(super) trait SchemaUpdate: Serialize + Clone + Into<Update> + Send + Sync + 'static {
    /// Whether messages have ids and may be sent whole, as in version 2.
    const HAS_WHOLE_MESSAGES: bool;

    /// Whether it changes what the person can set or complete.
    fn is_setting(&self) -> bool;

    /// Whether it is about a tool call.
    fn is_tool_call(&self) -> bool;
}

/// The client. Clones share everything.
#[derive(Clone)]
pub(super) struct Client(Arc<Inner>);

struct Inner {
    view: Arc<View>,
    /// `None` if there is no person to ask.
    user: Option<User>,
    permissions: Arc<PermissionChecker>,
    workspaces: Workspaces,
    setup: SessionSetup,
    display: Arc<Display>,
}

impl Client {
    /// A client with elicitations if a person can answer. It has files and terminals within the session's roots, as far as the
    /// rules let the agent use them.
    pub(super) fn toolkit(
        view: Arc<View>,
        user: Option<User>,
        permissions: Arc<PermissionChecker>,
        display: Arc<Display>,
    ) -> Toolkit<Self> {
        let (workspaces, is_there) = (permissions.workspaces(), user.is_some());
        let may_read = permissions.may_read();
        let (may_write, may_execute) = (permissions.may_write(), permissions.may_execute());
        let setup = SessionSetup::default();
        let client =
            Self(Arc::new(Inner { view, user, permissions, workspaces: workspaces.clone(), setup, display }));
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

    /// Whether there is a person to ask.
    pub(super) fn has_person(&self) -> bool {
        self.0.user.is_some()
    }

    pub(super) fn view(&self) -> &View {
        &self.0.view
    }

    pub(super) fn workspaces(&self) -> &Workspaces {
        &self.0.workspaces
    }

    /// Follows a change of the session.
    pub(super) fn follow(&self, change: SessionChange) {
        self.0.setup.follow(change);
        self.0.permissions.follow(change);
        self.0.display.follow(change);
    }

    /// Opens the workspace of an existing session of version 1.
    pub(super) fn open_workspace(&self, session: &SessionId, workspace: impl Into<Workspace>) {
        // Opening a workspace again would end the commands that run in it, and the session may go on as it is.
        if self.0.workspaces.of(session).is_err() {
            self.0.workspaces.open(session, workspace);
        }
    }

    /// The holder of the answer that opens the session.
    pub(super) fn setup(&self) -> &SessionSetup {
        &self.0.setup
    }

    /// Shows the answer that opens the session, if it has arrived and was not shown.
    pub(super) fn show_opened(&self) -> io::Result<()> {
        self.0.setup.take(&self.0.view, &self.0.display)
    }

    /// The display of the session.
    pub(super) fn display(&self) -> &Display {
        &self.0.display
    }

    /// Called when a turn has ended. A failed turn counts as cancelled.
    pub(super) fn turn_ended(&self, was_cancelled: bool) -> io::Result<()> {
        self.0.display.turn_ended(was_cancelled, &|id, position| self.own_output(id, position))
    }

    /// Shows the new output of the commands that we run for the agent.
    pub(super) fn show_running(&self) -> io::Result<()> {
        self.0.display.show_running(&|id, position| self.own_output(id, position))
    }

    /// Applies and shows an answer with the content of an update.
    pub(super) fn apply(&self, update: impl Into<Update>) -> io::Result<()> {
        let applied = self.0.display.conversation(|conversation| conversation.apply(update));
        self.0.display.show(&applied, &|id, position| self.own_output(id, position))
    }

    /// The output of a terminal of the session since a position, also after the agent has released it.
    fn own_output(&self, id: &TerminalId, position: u64) -> Option<ShownOutput> {
        let workspace = self.0.workspaces.of(&self.0.setup.session()?).ok()?;
        workspace.terminals().shown_since(id, position)
    }

    /// Prints or shows an update, and remembers its tool call for the permission rules.
    pub(super) fn session_update<U: SchemaUpdate>(&self, session: &SessionId, update: U) {
        ignore_output_error(self.show_opened());
        let is_ours = self.0.setup.is_ours(session);
        if is_ours && update.is_tool_call() {
            self.0.permissions.observe(&update);
        }
        let (apply, is_hidden) = (|update| self.update(update), self.0.display.hides());
        ignore_output_error(self.0.view.update(session, update, is_ours, is_hidden, U::is_setting, apply));
    }

    /// Applies and shows an update.
    fn update<U: SchemaUpdate>(&self, update: U) -> io::Result<()> {
        let own = |id: &TerminalId, position| self.own_output(id, position);
        self.0.display.update(update.into(), U::HAS_WHOLE_MESSAGES, &own)
    }
}

impl UserInterface for Client {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        self.0.permissions.answer(request, self.0.setup.is_ours(&request.session_id)).await
    }

    /// Does nothing: [`Client::session_update`] takes every update before the toolkit's own conversations.
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
        self.session_update(&notification.session_id, notification.update);
        None
    }

    fn permission_requested(&self, request: &RequestPermissionRequest) {
        ignore_output_error(self.show_opened());
        if self.0.setup.is_ours(&request.session_id) && !self.0.view.is_json() {
            ignore_output_error(self.update(SessionUpdate::from(shown_parts(&request.tool_call))));
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
