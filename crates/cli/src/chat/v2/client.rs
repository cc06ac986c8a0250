//! What an agent of version 2 may do through us: ask for permission. Files and terminals are its own.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use agentwire_acp_client::Error;
use agentwire_acp_client::v2::{Client, Context};
use agentwire_acp_schema::v1;
use agentwire_acp_schema::v2::{
    AvailableCommand, NewSessionResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, RequestPermissionSubject, SessionConfigOption, SessionConfigOptionCategory,
    SessionId, SessionUpdate, UpdateSessionNotification,
};
use agentwire_acp_toolkit::{PermissionPolicy, Permissions};
use agentwire_jsonrpc::RawJson;
use serde_json::json;

use super::draw::Drawn;
use super::settings::current_value;
use crate::chat::complete::Words;
use crate::chat::person::Person;
use crate::chat::view::View;

/// The client. Clones are the same.
#[derive(Clone)]
pub(in crate::chat) struct Hands(Rc<Inner>);

struct Inner {
    view: Rc<View>,
    /// None where nobody is there to be asked.
    person: Option<Person>,
    permissions: Permissions,
    /// Whether whatever it is asked is rejected, because nobody is there.
    rejects: bool,
    words: Words,
    session: RefCell<Option<SessionId>>,
    options: RefCell<Vec<SessionConfigOption>>,
    drawn: RefCell<Drawn>,
    in_turn: Cell<bool>,
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
            rejects: policy == PermissionPolicy::RejectAll,
            words,
            session: RefCell::default(),
            options: RefCell::default(),
            drawn: RefCell::default(),
            in_turn: Cell::default(),
        }))
    }

    /// This session is being taken up.
    pub(super) fn opens(&self, session: &SessionId) {
        *self.0.session.borrow_mut() = Some(session.clone());
    }

    /// A session was begun or taken up.
    pub(super) fn opened(&self, opened: NewSessionResponse) {
        self.opens(&opened.session_id);
        self.note(opened.config_options);
        self.note_commands(&opened.available_commands);
    }

    pub(super) fn turn_begins(&self) {
        self.0.in_turn.set(true);
    }

    pub(super) fn turn_ended(&self) {
        self.0.in_turn.set(false);
    }

    /// The options as they are now.
    pub(super) fn options<R>(&self, look: impl FnOnce(&[SessionConfigOption]) -> R) -> R {
        look(&self.0.options.borrow())
    }

    /// The option that is the mode, where there is one.
    pub(super) fn mode_option(&self) -> Option<String> {
        let is_mode =
            |option: &&SessionConfigOption| option.category == Some(SessionConfigOptionCategory::Mode);
        self.options(|options| options.iter().find(is_mode).map(|option| option.config_id.to_string()))
    }

    /// The options are these now; what is new is shown.
    pub(super) fn set(&self, options: Vec<SessionConfigOption>) -> io::Result<()> {
        let before = self.options(|options| options.to_vec());
        for option in options.iter().filter(|option| !before.contains(option)) {
            if let Some(value) = current_value(option) {
                self.0.view.remark(&format!("{}: {value}", option.name))?;
            }
        }
        self.note(options);
        Ok(())
    }

    fn note(&self, options: Vec<SessionConfigOption>) {
        let ids = options.iter().map(|option| (option.config_id.to_string(), Vec::new()));
        self.0.words.known().options = ids.collect();
        *self.0.options.borrow_mut() = options;
    }

    fn note_commands(&self, commands: &[AvailableCommand]) {
        let known = commands.iter().filter_map(|command| match command {
            AvailableCommand::Command(command) => Some((command.name.clone(), command.description.clone())),
            _ => None,
        });
        self.0.words.known().commands = known.collect();
    }

    fn update(&self, update: SessionUpdate) -> io::Result<()> {
        match update {
            SessionUpdate::ConfigOptionUpdate(update) => self.set(update.config_options),
            SessionUpdate::AvailableCommandsUpdate(update) => {
                self.note_commands(&update.available_commands);
                Ok(())
            }
            update => {
                let in_turn = self.0.in_turn.get();
                let drawn = &mut *self.0.drawn.borrow_mut();
                self.0.view.on_screen(|screen| drawn.draw(screen, update, in_turn))
            }
        }
    }
}

impl Client for Hands {
    fn session_update(&self, notification: UpdateSessionNotification) {
        // That it cannot be shown is told where the turn waits.
        let _told_there = self.0.view.fact("update", &notification.update);
        let is_ours = self.0.session.borrow().as_ref().is_none_or(|ours| *ours == notification.session_id);
        if is_ours {
            let _told_there = self.update(notification.update);
        }
    }

    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        let fact = json!({ "params": params, "why": why.message });
        let _told_there = self.0.view.fact("unreadable", &fact);
    }

    fn unreadable_message(&self, why: &Error) {
        let _told_there = self.0.view.lost(why);
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        let ask = async |request: &v1::RequestPermissionRequest| match &self.0.person {
            Some(person) => person.permission(request).await,
            None => Ok(v1::RequestPermissionResponse::cancelled()),
        };
        let answer = self.0.permissions.answer(&question(&request), ask).await?;
        if self.0.rejects {
            self.0.view.rejected(&request.title);
        }
        let outcome = match answer.outcome {
            v1::RequestPermissionOutcome::Selected(selected) => RequestPermissionOutcome::from(selected),
            _ => RequestPermissionResponse::cancelled().outcome,
        };
        let fact = json!({ "request": request, "outcome": outcome });
        self.0.view.fact("permission", &fact).map_err(Error::internal_error)?;
        Ok(RequestPermissionResponse::new(outcome))
    }
}

/// The same question in the words of version 1, in which the menu is written. It never goes over a wire.
fn question(request: &RequestPermissionRequest) -> v1::RequestPermissionRequest {
    let id = match &request.subject {
        Some(RequestPermissionSubject::ToolCall(subject)) => subject.tool_call.tool_call_id.to_string(),
        _ => String::new(),
    };
    let mut call = v1::ToolCallUpdate::new(id).title(&request.title);
    let command = match &request.subject {
        Some(RequestPermissionSubject::Command(subject)) => {
            Some(format!("{} (in {})", subject.command, subject.cwd))
        }
        _ => None,
    };
    let texts = request.description.iter().chain(&command).map(|text| v1::ContentBlock::from(&**text));
    let content: Vec<_> = texts.map(v1::ToolCallContent::from).collect();
    if !content.is_empty() {
        call = call.content(content);
    }
    v1::RequestPermissionRequest::new(&request.session_id, call, request.options.clone())
}
