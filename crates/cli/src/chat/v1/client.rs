//! What the agent may do through us.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use agentwire_acp_client::{Call, Client, Context, Error};
use agentwire_acp_schema::v1::{
    BooleanConfigOptionCapabilities, ClientCapabilities, ClientSessionCapabilities, CompactionCapabilities,
    CompleteElicitationNotification, Content, ContentBlock, CreateElicitationRequest,
    CreateElicitationResponse, CreateTerminalRequest, CreateTerminalResponse, ElicitationCapabilities,
    ElicitationFormCapabilities, ElicitationUrlCapabilities, KillTerminalRequest, KillTerminalResponse,
    NewSessionRequest, NewSessionResponse, NoticeCapabilities, ReadTextFileRequest, ReadTextFileResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, RequestPermissionRequest, RequestPermissionResponse,
    SessionConfigOptionsCapabilities, SessionId, SessionNotification, SessionUpdate, StopReason, TerminalId,
    TerminalOutputRequest, TerminalOutputResponse, ToolCallContent, ToolCallUpdate,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use agentwire_acp_toolkit::{
    Applied, Change, Conversation, MessageKind, PermissionPolicy, Permissions, Workspace, Workspaces,
};
use agentwire_jsonrpc::{RawJson, Skipped};

use super::settings;
use crate::chat::check_id;
use crate::chat::complete::Words;
use crate::chat::draw::content_text;
use crate::chat::opening::Opening;
use crate::chat::person::Person;
use crate::chat::screen::Voice;
use crate::chat::view::View;
use crate::text::beginning;

/// How much memory the conversation takes at most: 8 MiB. What was said scrolls away on the screen, so it need not be
/// remembered for long.
const CONVERSATION_LIMIT: usize = 8 << 20;

/// How much of a text that a tool gives is kept, in bytes. Less of it is shown.
const TOOL_TEXT: usize = 128 << 10;

/// A text of the person's from this length on is not compared with what they have said, in bytes.
const LONG_ECHO: usize = 1 << 20;

/// The client: files and terminals within the session's roots, a person or a policy that permits, and the conversation as
/// far as it has been told. Clones are the same.
#[derive(Clone)]
pub(in crate::chat) struct Hands(Rc<Inner>);

struct Inner {
    view: Rc<View>,
    /// None where nobody is there to be asked.
    person: Option<Person>,
    permissions: Permissions,
    /// Whether the agent may run commands and write files: where somebody is there to be asked, or has said that it may.
    may_act: bool,
    workspaces: Workspaces,
    words: Words,
    session: RefCell<Option<SessionId>>,
    opening: Opening<NewSessionResponse>,
    conversation: RefCell<Conversation>,
    hasher: RandomState,
    /// Whether a turn goes on, or a session is told anew.
    in_flow: Cell<bool>,
}

impl Hands {
    pub(in crate::chat) fn new(
        view: Rc<View>,
        person: Option<Person>,
        policy: PermissionPolicy,
        words: Words,
    ) -> Self {
        Self(Rc::new(Inner {
            view,
            person,
            permissions: Permissions::new(policy),
            may_act: policy != PermissionPolicy::RejectAll,
            workspaces: Workspaces::new(),
            words,
            session: RefCell::default(),
            opening: Opening::new(),
            conversation: Conversation::new().limit(CONVERSATION_LIMIT).into(),
            hasher: RandomState::new(),
            in_flow: Cell::default(),
        }))
    }

    /// What we can do. Whoever asks needs somebody to answer.
    pub(in crate::chat) fn capabilities(&self) -> ClientCapabilities {
        let boolean = BooleanConfigOptionCapabilities::new();
        let session = ClientSessionCapabilities::new()
            .config_options(SessionConfigOptionsCapabilities::new().boolean(boolean))
            .notices(NoticeCapabilities::new())
            .compaction(CompactionCapabilities::new());
        let mut capabilities = self.0.workspaces.capabilities().session(session);
        if !self.0.may_act {
            capabilities.terminal = false;
            capabilities.fs.write_text_file = false;
        }
        match &self.0.person {
            Some(_) => capabilities.elicitation(
                ElicitationCapabilities::new()
                    .form(ElicitationFormCapabilities::new())
                    .url(ElicitationUrlCapabilities::new()),
            ),
            None => capabilities,
        }
    }

    /// The agent may work in the session from now on.
    pub(super) fn open(&self, session: &SessionId, workspace: impl Into<Workspace>) {
        self.0.workspaces.open(session, workspace);
        *self.0.session.borrow_mut() = Some(session.clone());
    }

    /// Opens the session that a call begins when the answer arrives, so that the agent may work in it at once.
    pub(super) fn begins(
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
        self.takes_up(call, |opened| {
            let left = NewSessionResponse::new(&opened.session_id);
            (opened, left)
        })
    }

    /// Keeps what the answer to a call says of its session, for [`set_up`](Self::set_up).
    pub(super) fn takes_up<R: 'static>(
        &self,
        call: Call<R>,
        split: impl FnOnce(R) -> (NewSessionResponse, R) + Send + 'static,
    ) -> Call<R> {
        self.0.opening.keep(call, split)
    }

    /// Takes over the answer that sets up the session, and shows it, once it has arrived.
    pub(super) fn set_up(&self) -> io::Result<()> {
        let Some(opened) = self.0.opening.take() else { return Ok(()) };
        if check_id(&opened.session_id).is_err() {
            return Ok(());
        }
        let opened = Arc::new(opened);
        self.0.view.large_fact("session", &opened)?;
        let NewSessionResponse { session_id, modes, config_options, .. } = Arc::unwrap_or_clone(opened);
        *self.0.session.borrow_mut() = Some(session_id);
        let applied = self.conversation(|conversation| conversation.opened(modes, config_options));
        self.applied(applied)
    }

    /// Ends what runs in the session.
    pub(super) async fn close(&self, session: &SessionId) {
        self.0.workspaces.close(session).await;
        self.0.permissions.forget(session);
    }

    /// The conversation as it is now.
    pub(super) fn conversation<R>(&self, look: impl FnOnce(&mut Conversation) -> R) -> R {
        look(&mut self.0.conversation.borrow_mut())
    }

    /// The person says this, and a turn begins.
    pub(super) fn turn_begins(&self, prompt: &[ContentBlock]) {
        self.0.in_flow.set(true);
        let _not_shown_again = self.conversation(|conversation| conversation.prompt(prompt.iter().cloned()));
    }

    /// The turn is over, for this reason if it did not fail.
    pub(super) fn turn_ended(&self, reason: Option<&StopReason>) -> io::Result<()> {
        self.0.in_flow.set(false);
        // A turn that fails has ended, too.
        let marked = self
            .conversation(|conversation| conversation.turn_ended(reason.unwrap_or(&StopReason::Cancelled)));
        for index in marked {
            let view = &self.0.view;
            view.on_screen(|screen| screen.draw_cancelled(&self.0.conversation.borrow(), index))?;
        }
        Ok(())
    }

    /// A session is opened, and may be told anew; what is beside the flow waits until that is over.
    pub(super) fn opens(&self, opens: bool) {
        self.0.in_flow.set(opens);
    }

    /// Shows what changed beside the flow, when that rests.
    pub(super) fn rest(&self) -> io::Result<()> {
        self.0.view.on_screen(|screen| screen.rest(&self.0.conversation.borrow()))
    }

    /// Takes over what an answer says, or anything else that is an update in all but name.
    pub(super) fn takes(&self, update: impl Into<SessionUpdate>) -> io::Result<()> {
        let update: SessionUpdate = update.into();
        let applied = self.conversation(|conversation| conversation.apply(update));
        self.applied(applied)
    }

    /// Shows what is new, and takes note of what can be typed now.
    pub(super) fn applied(&self, applied: Applied) -> io::Result<()> {
        settings::note(&self.0.words, &self.0.conversation.borrow(), applied.change);
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
        self.0.view.on_screen(|screen| screen.draw(&self.0.conversation.borrow(), change, &output))?;
        if self.0.in_flow.get() { Ok(()) } else { self.rest() }
    }

    /// What a terminal of the session has printed, also when the agent has released it.
    fn output(&self, id: &TerminalId) -> Option<String> {
        let session = self.0.session.borrow();
        let workspace = self.0.workspaces.of(session.as_ref()?).ok()?;
        workspace.terminals().shown(id).map(|shown| shown.output)
    }

    /// Whether it is about our session. One that is being opened has no id yet.
    fn is_ours(&self, session: &SessionId) -> bool {
        self.0.session.borrow().as_ref().is_none_or(|ours| ours == session)
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

/// Takes out of a tool call what is never shown: its input, its output and where it is. Of its texts the beginning is.
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

/// That something cannot be shown is told where the turn waits; see [`Outlet::failed`](crate::outlet::Outlet::failed).
fn shown(outcome: io::Result<()>) {
    let _told_there = outcome;
}

impl Client for Hands {
    fn session_update(&self, notification: SessionNotification) {
        shown(self.set_up());
        let SessionNotification { session_id, update, .. } = notification;
        let is_ours = self.is_ours(&session_id);
        if !self.0.view.is_json() {
            if is_ours {
                shown(self.update(update));
            }
            return;
        }
        let update = Arc::new(update);
        shown(self.0.view.large_fact("update", &update));
        if is_ours && is_setting(&update) {
            shown(self.takes(Arc::unwrap_or_clone(update)));
        }
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

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        shown(self.set_up());
        if self.is_ours(&request.session_id) && !self.0.view.is_json() {
            shown(self.update(what_is_shown(&request.tool_call).into()));
        }
        let ask = async |request: &RequestPermissionRequest| match &self.0.person {
            Some(person) => person.permission(request).await,
            None => Ok(RequestPermissionResponse::cancelled()),
        };
        let response = self.0.permissions.answer(&request, ask).await?;
        if !self.0.may_act {
            let title = request.tool_call.title.as_deref().unwrap_or("a tool call without a title");
            self.0.view.rejected(title);
        }
        let outcome = response.outcome.clone();
        self.0.view.permission(request, outcome).map_err(Error::internal_error)?;
        Ok(response)
    }

    async fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
        _: Context,
    ) -> Result<CreateElicitationResponse, Error> {
        match &self.0.person {
            Some(person) => person.elicitation(request).await,
            None => Ok(CreateElicitationResponse::decline()),
        }
    }

    fn complete_elicitation(&self, _: CompleteElicitationNotification) {
        shown(self.0.view.remark("What was to be done at the URL is done."));
    }

    async fn read_text_file(
        &self,
        request: ReadTextFileRequest,
        _: Context,
    ) -> Result<ReadTextFileResponse, Error> {
        self.0.workspaces.read_text_file(request).await
    }

    async fn write_text_file(
        &self,
        request: WriteTextFileRequest,
        _: Context,
    ) -> Result<WriteTextFileResponse, Error> {
        self.0.workspaces.write_text_file(request).await
    }

    async fn create_terminal(
        &self,
        request: CreateTerminalRequest,
        _: Context,
    ) -> Result<CreateTerminalResponse, Error> {
        self.0.workspaces.create_terminal(request).await
    }

    async fn terminal_output(
        &self,
        request: TerminalOutputRequest,
        _: Context,
    ) -> Result<TerminalOutputResponse, Error> {
        self.0.workspaces.terminal_output(request).await
    }

    async fn wait_for_terminal_exit(
        &self,
        request: WaitForTerminalExitRequest,
        _: Context,
    ) -> Result<WaitForTerminalExitResponse, Error> {
        self.0.workspaces.wait_for_terminal_exit(request).await
    }

    async fn kill_terminal(
        &self,
        request: KillTerminalRequest,
        _: Context,
    ) -> Result<KillTerminalResponse, Error> {
        self.0.workspaces.kill_terminal(request).await
    }

    async fn release_terminal(
        &self,
        request: ReleaseTerminalRequest,
        _: Context,
    ) -> Result<ReleaseTerminalResponse, Error> {
        self.0.workspaces.release_terminal(request).await
    }
}
