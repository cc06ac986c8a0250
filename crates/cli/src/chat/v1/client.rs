//! Our client for an agent of version 1: the part of a [`Toolkit`] that asks the user and shows the conversation.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_acp_client::{Call, Error};
use agentwire_acp_schema::v1::{
    ClientCapabilities, Content, ContentBlock, CreateElicitationResponse, ElicitationId, NewSessionRequest,
    NewSessionResponse, RequestPermissionRequest, RequestPermissionResponse, SessionId, SessionNotification,
    SessionUpdate, StopReason, TerminalId, ToolCallContent, ToolCallUpdate,
};
use agentwire_acp_toolkit::{
    Applied, Change, Conversation, Form, MessageKind, PermissionPolicy, Permissions, Toolkit, Update,
    UrlConsent, UserInterface, Workspace, Workspaces,
};
use agentwire_jsonrpc::{RawJson, Skipped};
use agentwire_sync::Mutex;

use super::draw::{Renderer, content_text};
use super::settings;
use crate::chat::complete::Completions;
use crate::chat::permissions::PermissionChecker;
use crate::chat::setup::{SessionSetup, check_id, ignore_output_error};
use crate::terminal::{Screen, StreamedMessage, User, View};
use crate::text::beginning;

/// The most memory of the conversation: 8 MiB. Messages are shown as they arrive, and are not kept.
const CONVERSATION_LIMIT: usize = 8 << 20;

/// How many bytes of a tool's text are kept: 128 KiB. Fewer are shown.
const TOOL_TEXT_LIMIT: usize = 128 << 10;

/// From this length in bytes on, a user message of the agent is not compared with the prompt, and is shown: 1 MiB.
const LONG_ECHO: usize = 1 << 20;

/// The client. Clones share everything.
#[derive(Clone)]
pub(in crate::chat) struct Client(Arc<Inner>);

struct Inner {
    view: Arc<View>,
    /// None where there is no person to ask.
    user: Option<User>,
    permissions: Arc<PermissionChecker>,
    workspaces: Workspaces,
    completions: Completions,
    setup: SessionSetup<NewSessionResponse>,
    conversation: Mutex<Conversation>,
    renderer: Mutex<Renderer>,
    hasher: RandomState,
    /// Whether a turn runs, or a session is replayed.
    in_flow: AtomicBool,
}

impl Client {
    /// A client, with files and terminals within the session's roots as far as the rules let the agent use them, and with
    /// elicitations where a person can answer.
    pub(in crate::chat) fn toolkit(
        view: Arc<View>,
        user: Option<User>,
        permissions: Arc<PermissionChecker>,
        completions: Completions,
    ) -> Toolkit<Self> {
        let (workspaces, is_there) = (permissions.workspaces(), user.is_some());
        let may_read = permissions.may_read();
        let (may_write, may_execute) = (permissions.may_write(), permissions.may_execute());
        let client = Self(Arc::new(Inner {
            view,
            user,
            permissions,
            workspaces: workspaces.clone(),
            completions,
            setup: SessionSetup::new(|opened: &NewSessionResponse| &opened.session_id),
            conversation: Conversation::new().limit(CONVERSATION_LIMIT).into(),
            renderer: Mutex::default(),
            hasher: RandomState::new(),
            in_flow: AtomicBool::default(),
        }));
        // The checker decides on every request.
        let ask = Permissions::new(PermissionPolicy::Ask);
        let mut toolkit = Toolkit::new(client).with_workspaces(workspaces).with_permissions(ask);
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

    /// The capabilities of a toolkit, with logins in our terminal where a person can be asked.
    pub(in crate::chat) fn capabilities(toolkit: &Toolkit<Self>) -> ClientCapabilities {
        let mut capabilities = toolkit.capabilities();
        capabilities.auth.terminal = toolkit.user_interface().0.user.is_some();
        capabilities
    }

    /// Forgets the conversation, before another begins.
    pub(super) fn forget(&self) {
        *self.0.conversation.lock() = Conversation::new().limit(CONVERSATION_LIMIT);
        *self.0.renderer.lock() = Renderer::default();
    }

    /// Opens the workspace of an existing session, and shows the session's updates from now on.
    pub(super) fn open(&self, session: &SessionId, workspace: impl Into<Workspace>) {
        self.0.workspaces.open(session, workspace);
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
        self.applied(applied)
    }

    /// The conversation as it is now.
    pub(super) fn conversation<R>(&self, look: impl FnOnce(&mut Conversation) -> R) -> R {
        look(&mut self.0.conversation.lock())
    }

    /// Called when a turn begins. The agent's copies of the prompt are not shown.
    pub(super) fn turn_begins(&self, prompt: &[ContentBlock]) {
        self.set_in_flow(true);
        let _not_shown_again = self.conversation(|conversation| conversation.prompt(prompt.iter().cloned()));
    }

    /// Called when a turn has ended. A failed turn counts as cancelled.
    pub(super) fn turn_ended(&self, was_cancelled: bool) -> io::Result<()> {
        self.set_in_flow(false);
        let reason = if was_cancelled { StopReason::Cancelled } else { StopReason::EndTurn };
        for index in self.conversation(|conversation| conversation.turn_ended(&reason)) {
            let conversation = &self.0.conversation;
            self.draw_on_screen(|renderer, screen| {
                renderer.draw_cancelled(screen, &conversation.lock(), index)
            })?;
        }
        Ok(())
    }

    /// Marks the beginning and the end of a turn or a replay. Settings that change in it are shown after it.
    pub(super) fn set_in_flow(&self, in_flow: bool) {
        self.0.in_flow.store(in_flow, Ordering::Relaxed);
    }

    /// Shows the settings that changed.
    pub(super) fn show_settings(&self) -> io::Result<()> {
        let conversation = &self.0.conversation;
        self.draw_on_screen(|renderer, screen| renderer.draw_settings(screen, &conversation.lock()))
    }

    /// Applies and shows an update, or an answer with the content of one.
    pub(super) fn apply(&self, update: impl Into<Update>) -> io::Result<()> {
        let applied = self.conversation(|conversation| conversation.apply(update));
        self.applied(applied)
    }

    /// Shows the changes of an update, and updates the completions.
    fn applied(&self, applied: Applied) -> io::Result<()> {
        settings::update_completions(&self.0.completions, &self.0.conversation.lock(), applied.change);
        self.draw(applied.change)?;
        match applied.omitted {
            0 => Ok(()),
            bytes => self.0.view.not_stored(&format!(
                "something that the agent told takes {bytes} bytes of memory, which is more than is kept: it is left out"
            )),
        }
    }

    fn draw(&self, change: Change) -> io::Result<()> {
        let output = |id: &TerminalId| self.output(id);
        let conversation = &self.0.conversation;
        self.draw_on_screen(|renderer, screen| renderer.draw(screen, &conversation.lock(), change, &output))?;
        if self.0.in_flow.load(Ordering::Relaxed) { Ok(()) } else { self.show_settings() }
    }

    fn draw_on_screen(
        &self,
        draw: impl FnOnce(&mut Renderer, &mut Screen) -> io::Result<()>,
    ) -> io::Result<()> {
        self.0.view.on_screen(|screen| draw(&mut self.0.renderer.lock(), screen))
    }

    /// The output of a terminal of the session, also after the agent has released it.
    fn output(&self, id: &TerminalId) -> Option<String> {
        let workspace = self.0.workspaces.of(&self.0.setup.session()?).ok()?;
        workspace.terminals().shown(id).map(|shown| shown.output)
    }

    /// Applies and shows an update. The text of a message is shown and not kept.
    fn update(&self, mut update: SessionUpdate) -> io::Result<()> {
        remove_hidden_parts(&mut update);
        let chunk = self.take_text(&mut update);
        let mut applied = self.conversation(|conversation| conversation.apply(update));
        let Some(TextChunk { kind, id, text }) = chunk else { return self.applied(applied) };
        // The text that the conversation omits is shown here.
        applied.omitted = 0;
        let key = applied.change.index().map_or(id, |index| index as u64);
        self.applied(applied)?;
        self.0.view.on_screen(|screen| {
            screen.stream(StreamedMessage { kind, key }, text.into())?;
            screen.flush()
        })
    }

    /// Takes the text out of an update that extends a message.
    fn take_text(&self, update: &mut SessionUpdate) -> Option<TextChunk> {
        let (kind, chunk) = match update {
            SessionUpdate::AgentMessageChunk(chunk) => (MessageKind::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => (MessageKind::Thought, chunk),
            // The conversation compares shorter ones with the prompt.
            SessionUpdate::UserMessageChunk(chunk)
                if chunk.content.as_text().is_some_and(|text| text.len() >= LONG_ECHO) =>
            {
                (MessageKind::User, chunk)
            }
            _ => return None,
        };
        let text = match &mut chunk.content {
            ContentBlock::Text(text) => std::mem::take(&mut text.text),
            other => {
                let text = content_text(other).into_owned();
                *other = ContentBlock::from("");
                text
            }
        };
        Some(TextChunk { kind, id: self.0.hasher.hash_one(&chunk.message_id), text })
    }
}

/// Removes the parts of a tool call that are never shown: raw input, raw output and locations. Long texts are cut.
fn remove_hidden_parts(update: &mut SessionUpdate) {
    let contents = match update {
        SessionUpdate::ToolCall(call) => {
            (call.raw_input, call.raw_output, call.meta) = (None, None, None);
            call.locations.clear();
            Some(&mut call.content)
        }
        SessionUpdate::ToolCallUpdate(call) => {
            (call.raw_input, call.raw_output, call.locations, call.meta) = (None, None, None, None);
            call.content.as_mut()
        }
        _ => None,
    };
    for content in contents.into_iter().flatten() {
        if let ToolCallContent::Content(content) = content
            && let ContentBlock::Text(text) = &mut content.content
            && text.text.len() > TOOL_TEXT_LIMIT
        {
            text.text = beginning(&*text.text, TOOL_TEXT_LIMIT);
        }
    }
}

/// A copy of a tool call with only its shown parts. All of it may be as long as a message.
fn shown_parts(call: &ToolCallUpdate) -> ToolCallUpdate {
    let content = |content: &ToolCallContent| match content {
        ToolCallContent::Content(part) => match part.content.as_text() {
            Some(text) => Content::from(beginning(text, TOOL_TEXT_LIMIT)).into(),
            None => content.clone(),
        },
        other => other.clone(),
    };
    let mut shown = ToolCallUpdate::new(call.tool_call_id.clone());
    (shown.kind, shown.status) = (call.kind.clone(), call.status.clone());
    shown.title = call.title.as_ref().map(|title| beginning(title, TOOL_TEXT_LIMIT));
    shown.name = call.name.as_ref().map(|name| beginning(name, TOOL_TEXT_LIMIT));
    shown.content = call.content.as_ref().map(|contents| contents.iter().map(content).collect());
    shown
}

/// A piece of a message's text.
struct TextChunk {
    kind: MessageKind,
    /// A hash of the message's id.
    id: u64,
    text: String,
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
        self.0.permissions.answer(request).await
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
        let apply = |update| self.update(update);
        ignore_output_error(self.0.view.update(update, is_ours, is_setting, apply));
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
