//! Our client for an agent of version 1: the part of a [`Toolkit`] that decides, and that shows the conversation.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_acp_client::{Call, Error};
use agentwire_acp_schema::v1::{
    Content, ContentBlock, CreateElicitationResponse, ElicitationId, NewSessionRequest, NewSessionResponse,
    RequestPermissionRequest, RequestPermissionResponse, SessionId, SessionNotification, SessionUpdate,
    StopReason, TerminalId, ToolCallContent, ToolCallUpdate,
};
use agentwire_acp_toolkit::{
    Applied, Change, Conversation, Form, MessageKind, PermissionPolicy, Permissions, Toolkit, Update,
    UrlConsent, UserInterface, Workspace, Workspaces,
};
use agentwire_jsonrpc::{RawJson, Skipped};
use agentwire_sync::Mutex;

use super::settings;
use crate::chat::check_id;
use crate::chat::complete::Completions;
use crate::chat::draw::content_text;
use crate::chat::opening::Opening;
use crate::chat::screen::Voice;
use crate::chat::user::User;
use crate::chat::view::View;
use crate::text::beginning;

/// How much memory the conversation takes at most: 8 MiB. What was said scrolls away on the screen, so it need not be
/// remembered for long.
const CONVERSATION_LIMIT: usize = 8 << 20;

/// How much of a text that a tool gives is kept, in bytes. Less of it is shown.
const TOOL_TEXT: usize = 128 << 10;

/// A text of the person's from this length on is not compared with what they have said, in bytes.
const LONG_ECHO: usize = 1 << 20;

/// The client. Clones are the same.
#[derive(Clone)]
pub(in crate::chat) struct Client(Arc<Inner>);

struct Inner {
    view: Arc<View>,
    /// None where nobody is there to be asked.
    user: Option<User>,
    /// Whether the agent may run commands and write files: somebody can be asked, or has allowed everything.
    may_act: bool,
    workspaces: Workspaces,
    completions: Completions,
    session: Mutex<Option<SessionId>>,
    opening: Opening<NewSessionResponse>,
    conversation: Mutex<Conversation>,
    hasher: RandomState,
    /// Whether a turn goes on, or a session is replayed.
    in_flow: AtomicBool,
}

impl Client {
    /// A client with all that it serves: files and terminals within the session's roots where the agent may act, and
    /// elicitations where a person can answer.
    pub(in crate::chat) fn toolkit(
        view: Arc<View>,
        user: Option<User>,
        policy: PermissionPolicy,
        completions: Completions,
    ) -> Toolkit<Self> {
        let (workspaces, is_there) = (Workspaces::new(), user.is_some());
        let may_act = policy != PermissionPolicy::RejectAll;
        let client = Self(Arc::new(Inner {
            view,
            user,
            may_act,
            workspaces: workspaces.clone(),
            completions,
            session: Mutex::default(),
            opening: Opening::new(),
            conversation: Conversation::new().limit(CONVERSATION_LIMIT).into(),
            hasher: RandomState::new(),
            in_flow: AtomicBool::default(),
        }));
        let mut toolkit =
            Toolkit::new(client).with_workspaces(workspaces).with_permissions(Permissions::new(policy));
        if !may_act {
            toolkit = toolkit.without_file_writes().without_terminals();
        }
        if !is_there {
            toolkit = toolkit.without_forms().without_urls();
        }
        toolkit
    }

    /// The agent may work in the session from now on.
    pub(super) fn open(&self, session: &SessionId, workspace: impl Into<Workspace>) {
        self.0.workspaces.open(session, workspace);
        *self.0.session.lock() = Some(session.clone());
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
        self.keep_opened(call, |opened| {
            let left = NewSessionResponse::new(&opened.session_id);
            (opened, left)
        })
    }

    /// Keeps the settings in the answer to a call, for [`take_opened`](Self::take_opened).
    pub(super) fn keep_opened<R: 'static>(
        &self,
        call: Call<R>,
        split: impl FnOnce(R) -> (NewSessionResponse, R) + Send + 'static,
    ) -> Call<R> {
        self.0.opening.keep(call, split)
    }

    /// Applies and shows the answer that opened the session, once it has arrived.
    pub(super) fn take_opened(&self) -> io::Result<()> {
        let Some(opened) = self.0.opening.take() else { return Ok(()) };
        if check_id(&opened.session_id).is_err() {
            return Ok(());
        }
        let opened = Arc::new(opened);
        self.0.view.large_fact("session", &opened)?;
        let NewSessionResponse { session_id, modes, config_options, .. } = Arc::unwrap_or_clone(opened);
        *self.0.session.lock() = Some(session_id);
        let applied = self.conversation(|conversation| conversation.opened(modes, config_options));
        self.applied(applied)
    }

    /// The conversation as it is now.
    pub(super) fn conversation<R>(&self, look: impl FnOnce(&mut Conversation) -> R) -> R {
        look(&mut self.0.conversation.lock())
    }

    /// A turn begins with this prompt.
    pub(super) fn turn_begins(&self, prompt: &[ContentBlock]) {
        self.set_in_flow(true);
        let _not_shown_again = self.conversation(|conversation| conversation.prompt(prompt.iter().cloned()));
    }

    /// The turn is over. One that failed counts as cancelled.
    pub(super) fn turn_ended(&self, was_cancelled: bool) -> io::Result<()> {
        self.set_in_flow(false);
        let reason = if was_cancelled { StopReason::Cancelled } else { StopReason::EndTurn };
        for index in self.conversation(|conversation| conversation.turn_ended(&reason)) {
            let view = &self.0.view;
            view.on_screen(|screen| screen.draw_cancelled(&self.0.conversation.lock(), index))?;
        }
        Ok(())
    }

    /// Settings that change in a turn or a replay are shown after it.
    pub(super) fn set_in_flow(&self, in_flow: bool) {
        self.0.in_flow.store(in_flow, Ordering::Relaxed);
    }

    /// Shows the settings that changed.
    pub(super) fn show_settings(&self) -> io::Result<()> {
        self.0.view.on_screen(|screen| screen.draw_settings(&self.0.conversation.lock()))
    }

    /// Applies and shows an update, or an answer that says the same as one.
    pub(super) fn apply(&self, update: impl Into<Update>) -> io::Result<()> {
        let applied = self.conversation(|conversation| conversation.apply(update));
        self.applied(applied)
    }

    /// Shows what an update changed, and completes the new names.
    fn applied(&self, applied: Applied) -> io::Result<()> {
        settings::note(&self.0.completions, &self.0.conversation.lock(), applied.change);
        self.draw(applied.change)?;
        match applied.omitted {
            0 => Ok(()),
            bytes => self.0.view.left_out(&format!(
                "something that the agent told takes {bytes} bytes of memory, which is more than is kept: it is left out"
            )),
        }
    }

    fn draw(&self, change: Change) -> io::Result<()> {
        let output = |id: &TerminalId| self.output(id);
        self.0.view.on_screen(|screen| screen.draw(&self.0.conversation.lock(), change, &output))?;
        if self.0.in_flow.load(Ordering::Relaxed) { Ok(()) } else { self.show_settings() }
    }

    /// What a terminal of the session has printed, also when the agent has released it.
    fn output(&self, id: &TerminalId) -> Option<String> {
        let session = self.0.session.lock();
        let workspace = self.0.workspaces.of(session.as_ref()?).ok()?;
        workspace.terminals().shown(id).map(|shown| shown.output)
    }

    /// Whether it is about our session. One that is being opened has no id yet.
    fn is_ours(&self, session: &SessionId) -> bool {
        self.0.session.lock().as_ref().is_none_or(|ours| ours == session)
    }

    /// Shows an update. What is said scrolls away, so of a message only that there is one is kept.
    fn update(&self, mut update: SessionUpdate) -> io::Result<()> {
        leave_what_is_not_shown(&mut update);
        let said = self.said(&mut update);
        let mut applied = self.conversation(|conversation| conversation.apply(update));
        let Some(Said { kind, id, text }) = said else { return self.applied(applied) };
        // All of it is shown.
        applied.omitted = 0;
        let message = applied.change.index().map_or(id, |index| index as u64);
        self.applied(applied)?;
        self.0.view.on_screen(|screen| screen.unkept(Voice { kind, message }, text))
    }

    /// What an update says in a message, which is taken out of it.
    fn said(&self, update: &mut SessionUpdate) -> Option<Said> {
        let (kind, chunk) = match update {
            SessionUpdate::AgentMessageChunk(chunk) => (MessageKind::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => (MessageKind::Thought, chunk),
            // What the person said before is known by its text.
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
        Some(Said { kind, id: self.0.hasher.hash_one(&chunk.message_id), text })
    }
}

/// Removes from a tool call what is never shown: its input, its output and its locations. Long texts are cut.
fn leave_what_is_not_shown(update: &mut SessionUpdate) {
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
            && text.text.len() > TOOL_TEXT
        {
            text.text = beginning(&*text.text, TOOL_TEXT);
        }
    }
}

/// What is shown of the call that a question is about. It is no copy of all of it, which may be as long as a message.
fn what_is_shown(call: &ToolCallUpdate) -> ToolCallUpdate {
    let content = |content: &ToolCallContent| match content {
        ToolCallContent::Content(part) => match part.content.as_text() {
            Some(text) => Content::from(beginning(text, TOOL_TEXT)).into(),
            None => content.clone(),
        },
        other => other.clone(),
    };
    let mut shown = ToolCallUpdate::new(call.tool_call_id.clone());
    (shown.kind, shown.status) = (call.kind.clone(), call.status.clone());
    shown.title = call.title.as_ref().map(|title| beginning(title, TOOL_TEXT));
    shown.name = call.name.as_ref().map(|name| beginning(name, TOOL_TEXT));
    shown.content = call.content.as_ref().map(|contents| contents.iter().map(content).collect());
    shown
}

/// A piece of a message.
struct Said {
    kind: MessageKind,
    /// A hash of the message's id.
    id: u64,
    text: String,
}

/// Whether an update says what the person can set or type.
fn is_setting(update: &SessionUpdate) -> bool {
    matches!(
        update,
        SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::CurrentModeUpdate(_)
            | SessionUpdate::AvailableCommandsUpdate(_)
    )
}

/// That something cannot be shown is told where the turn waits; see [`OutputQueue::failed`](crate::output_queue::OutputQueue::failed).
fn shown(outcome: io::Result<()>) {
    let _told_there = outcome;
}

impl UserInterface for Client {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        match &self.0.user {
            Some(user) => user.permission(request).await,
            None => Ok(RequestPermissionResponse::cancelled()),
        }
    }

    /// The toolkit's conversations stay closed: the text of messages is printed as it arrives, and not kept.
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
        shown(self.0.view.remark("What was to be done at the URL is done."));
    }

    fn intercept_update(&self, notification: SessionNotification) -> Option<SessionNotification> {
        shown(self.take_opened());
        let SessionNotification { session_id, update, .. } = notification;
        let is_ours = self.is_ours(&session_id);
        if !self.0.view.is_json() {
            if is_ours {
                shown(self.update(update));
            }
            return None;
        }
        let update = Arc::new(update);
        shown(self.0.view.large_fact("update", &update));
        if is_ours && is_setting(&update) {
            shown(self.apply(Arc::unwrap_or_clone(update)));
        }
        None
    }

    fn permission_requested(&self, request: &RequestPermissionRequest) {
        shown(self.take_opened());
        if self.is_ours(&request.session_id) && !self.0.view.is_json() {
            shown(self.update(what_is_shown(&request.tool_call).into()));
        }
    }

    fn permission_answered(
        &self,
        request: RequestPermissionRequest,
        response: &RequestPermissionResponse,
    ) -> Result<(), Error> {
        if !self.0.may_act {
            let title = request.tool_call.title.as_deref().unwrap_or("a tool call without a title");
            self.0.view.rejected(title);
        }
        self.0.view.permission(request, response.outcome.clone()).map_err(Error::internal_error)
    }

    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        shown(self.0.view.unreadable(params, why));
    }

    fn unreadable_message(&self, why: &Error) {
        shown(self.0.view.lost(why));
    }

    fn skipped(&self, method: &str, skipped: Skipped) {
        shown(self.0.view.skipped(method, &skipped));
    }
}
