//! Our client for an agent of version 2: it shows the conversation, and answers the agent's questions. Files and terminals are
//! the agent's own.

use std::io;
use std::sync::Arc;

use agentwire_acp_client::Error;
use agentwire_acp_client::v2::{self, Context};
use agentwire_acp_schema::v1;
use agentwire_acp_schema::v2::{
    AvailableCommand, ClientAuthCapabilities, ClientCapabilities, CreateElicitationRequest,
    CreateElicitationResponse, NewSessionResponse, Patch, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, RequestPermissionSubject, SessionConfigOption, SessionConfigOptionCategory,
    SessionUpdate, TerminalAuthCapabilities, UpdateSessionNotification,
};
use agentwire_acp_toolkit::{Permissions, memory_estimate, permission_question};
use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped};
use agentwire_sync::Mutex;

use super::elicitation;
use super::settings::current_value;
use crate::chat::complete::Completions;
use crate::chat::display::Display;
use crate::chat::permissions::PermissionChecker;
use crate::chat::setup::{SessionSetup, ignore_output_error};
use crate::terminal::{MAX_ITEMS, User, ValueHashes, View, short};

/// The most memory of the options, and of the commands' names: 4 MiB each.
const SETTINGS_LIMIT: usize = 4 << 20;

/// The memory of a command's name and description beside their bytes.
const NAME_OVERHEAD: usize = 128;

/// The client. Clones share everything.
#[derive(Clone)]
pub(in crate::chat) struct Client(Arc<Inner>);

struct Inner {
    view: Arc<View>,
    /// None where there is no person to ask.
    user: Option<User>,
    /// The answers of the person that hold for always.
    decisions: Permissions,
    permissions: Arc<PermissionChecker>,
    completions: Completions,
    setup: SessionSetup<NewSessionResponse>,
    options: Mutex<Vec<SessionConfigOption>>,
    /// The values of the options that were shown.
    values: Mutex<ValueHashes>,
    display: Arc<Display>,
}

impl Client {
    pub(in crate::chat) fn new(
        view: Arc<View>,
        user: Option<User>,
        permissions: Arc<PermissionChecker>,
        completions: Completions,
        display: Arc<Display>,
    ) -> Self {
        Self(Arc::new(Inner {
            view,
            user,
            decisions: permissions.decisions(),
            permissions,
            completions,
            setup: SessionSetup::new(|opened: &NewSessionResponse| &opened.session_id),
            options: Mutex::default(),
            values: Mutex::default(),
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

    /// Forgets what was shown, before another session is opened.
    pub(super) fn forget(&self) {
        self.0.display.forget();
    }

    /// Where the answer that opens the session is kept.
    pub(super) fn setup(&self) -> &SessionSetup<NewSessionResponse> {
        &self.0.setup
    }

    /// Shows the answer that opens the session, if it has arrived and was not shown.
    pub(super) fn take_opened(&self) -> io::Result<()> {
        let Some(opened) = self.0.setup.take(&self.0.view)? else { return Ok(()) };
        self.note_values(&opened.config_options);
        self.store_commands(&opened.available_commands)?;
        self.store_options(opened.config_options)
    }

    /// What is shown of the session.
    pub(super) fn display(&self) -> &Display {
        &self.0.display
    }

    /// Reads the current options.
    pub(super) fn options<R>(&self, look: impl FnOnce(&[SessionConfigOption]) -> R) -> R {
        look(&self.0.options.lock())
    }

    /// The id of the option that sets the mode.
    pub(super) fn mode_option(&self) -> Option<String> {
        let is_mode =
            |option: &&SessionConfigOption| option.category == Some(SessionConfigOptionCategory::Mode);
        self.options(|options| options.iter().find(is_mode).map(|option| option.config_id.to_string()))
    }

    /// Replaces the options, and shows the new values.
    pub(super) fn set_options(&self, options: Vec<SessionConfigOption>) -> io::Result<()> {
        let new = self.note_values(&options);
        for index in new.iter().take(MAX_ITEMS) {
            if let Some(value) = current_value(&options[*index]) {
                self.0.view.remark(&format!("{}: {}", short(&options[*index].name), short(value)))?;
            }
        }
        if !self.0.view.is_quiet() {
            self.0.view.on_screen(|screen| screen.more(new.len().saturating_sub(MAX_ITEMS)))?;
        }
        self.store_options(options)
    }

    /// Records the values of the options. Returns the indices of the new values.
    fn note_values(&self, options: &[SessionConfigOption]) -> Vec<usize> {
        let values = options.iter().map(|option| (option.config_id.as_str(), current_value(option)));
        self.0.values.lock().replace(values)
    }

    /// Stores the options, unless they take too much memory.
    fn store_options(&self, options: Vec<SessionConfigOption>) -> io::Result<()> {
        let weight = memory_estimate(&options);
        if weight > SETTINGS_LIMIT {
            return self.0.view.not_stored(&format!(
                "the agent's options take {weight} bytes of memory, and the limit is {SETTINGS_LIMIT}: those before stay"
            ));
        }
        let ids = options.iter().map(|option| (option.config_id.to_string(), Vec::new()));
        self.0.completions.known().options = ids.collect();
        *self.0.options.lock() = options;
        Ok(())
    }

    /// Stores the names of the commands, for completion: as many as fit.
    fn store_commands(&self, commands: &[AvailableCommand]) -> io::Result<()> {
        let mut room = SETTINGS_LIMIT;
        let known = commands.iter().filter_map(|command| match command {
            AvailableCommand::Command(command) => Some((command.name.as_str(), short(&command.description))),
            _ => None,
        });
        let known_count = known.clone().count();
        let fits = known.take_while(|(name, description)| {
            let left = room.checked_sub(name.len() + description.len() + NAME_OVERHEAD);
            room = left.unwrap_or_default();
            left.is_some()
        });
        let fits: Vec<_> = fits.map(|(name, description)| (name.to_owned(), description)).collect();
        let count = known_count - fits.len();
        self.0.completions.known().commands = fits;
        if count == 0 {
            return Ok(());
        }
        self.0.view.not_stored(&format!(
            "{count} of the agent's commands are not completed: the others take {SETTINGS_LIMIT} bytes of memory, which is the limit"
        ))
    }

    fn update(&self, update: SessionUpdate) -> io::Result<()> {
        match update {
            SessionUpdate::ConfigOptionUpdate(update) => self.set_options(update.config_options),
            SessionUpdate::AvailableCommandsUpdate(update) => self.store_commands(&update.available_commands),
            update => self.0.display.update_v2(update),
        }
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
        let ask = async |request: &v1::RequestPermissionRequest| self.0.permissions.answer(request).await;
        // For programs the whole request is printed afterwards. It may be large: it is copied only for rules.
        let (question, printed) = match self.0.view.is_json() {
            true if self.0.permissions.has_rules() => (permission_question(request.clone()), Some(request)),
            true => (bare_question(&request), Some(request)),
            false => (permission_question(request), None),
        };
        let answer = self.0.decisions.answer(&question, ask).await?;
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
    call.kind = match &request.subject {
        Some(RequestPermissionSubject::ToolCall(subject)) => match &subject.tool_call.kind {
            Patch::Set(kind) => Some(kind.clone()),
            _ => None,
        },
        Some(RequestPermissionSubject::Command(_)) => Some(v1::ToolKind::Execute),
        _ => None,
    };
    v1::RequestPermissionRequest::new(&request.session_id, call, request.options.clone())
}
