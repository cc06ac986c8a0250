//! What an agent of version 2 may do through us: ask for permission. Files and terminals are its own.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_acp_client::v2::{self, Context};
use agentwire_acp_client::{Call, Error};
use agentwire_acp_schema::v1;
use agentwire_acp_schema::v2::{
    AvailableCommand, NewSessionResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SessionConfigOption, SessionConfigOptionCategory, SessionId, SessionUpdate,
    UpdateSessionNotification,
};
use agentwire_acp_toolkit::{PermissionPolicy, Permissions, memory_estimate, permission_question};
use agentwire_jsonrpc::{RawJson, Skipped};
use agentwire_sync::Mutex;

use super::draw::Drawn;
use super::settings::current_value;
use crate::chat::check_id;
use crate::chat::complete::Completions;
use crate::chat::draw::MOST_ENTRIES;
use crate::chat::opening::Opening;
use crate::chat::rendered::{Values, short};
use crate::chat::user::User;
use crate::chat::view::View;

/// How much memory the options take at most, and the names of the commands: 4 MiB each.
const KEPT: usize = 4 << 20;

/// What a name takes beside its bytes.
const ENTRY: usize = 128;

/// The client. Clones are the same.
#[derive(Clone)]
pub(in crate::chat) struct Client(Arc<Inner>);

struct Inner {
    view: Arc<View>,
    /// None where nobody is there to be asked.
    user: Option<User>,
    permissions: Permissions,
    /// Whether whatever it is asked is rejected, because nobody is there.
    rejects: bool,
    completions: Completions,
    session: Mutex<Option<SessionId>>,
    opening: Opening<NewSessionResponse>,
    options: Mutex<Vec<SessionConfigOption>>,
    /// The values of the options that were shown.
    values: Mutex<Values>,
    drawn: Mutex<Drawn>,
    in_turn: AtomicBool,
}

impl Client {
    pub(in crate::chat) fn new(
        view: Arc<View>,
        user: Option<User>,
        policy: PermissionPolicy,
        completions: Completions,
    ) -> Self {
        Self(Arc::new(Inner {
            view,
            user,
            permissions: Permissions::new(policy),
            rejects: policy == PermissionPolicy::RejectAll,
            completions,
            session: Mutex::default(),
            opening: Opening::new(),
            options: Mutex::default(),
            values: Mutex::default(),
            drawn: Mutex::default(),
            in_turn: AtomicBool::default(),
        }))
    }

    /// Updates of this session are shown from now on.
    pub(super) fn open(&self, session: &SessionId) {
        *self.0.session.lock() = Some(session.clone());
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
        let opened = Arc::unwrap_or_clone(opened);
        self.open(&opened.session_id);
        self.note(&opened.config_options);
        self.note_commands(&opened.available_commands)?;
        self.keep(opened.config_options)
    }

    /// In a turn the person's own messages are not shown again.
    pub(super) fn set_in_turn(&self, in_turn: bool) {
        self.0.in_turn.store(in_turn, Ordering::Relaxed);
    }

    /// The options as they are now.
    pub(super) fn options<R>(&self, look: impl FnOnce(&[SessionConfigOption]) -> R) -> R {
        look(&self.0.options.lock())
    }

    /// The option that is the mode, where there is one.
    pub(super) fn mode_option(&self) -> Option<String> {
        let is_mode =
            |option: &&SessionConfigOption| option.category == Some(SessionConfigOptionCategory::Mode);
        self.options(|options| options.iter().find(is_mode).map(|option| option.config_id.to_string()))
    }

    /// The options are these now; what is new is shown.
    pub(super) fn set(&self, options: Vec<SessionConfigOption>) -> io::Result<()> {
        let new = self.note(&options);
        for place in new.iter().take(MOST_ENTRIES) {
            if let Some(value) = current_value(&options[*place]) {
                self.0.view.remark(&format!("{}: {}", short(&options[*place].name), short(value)))?;
            }
        }
        self.0.view.on_screen(|screen| screen.more(new.len().saturating_sub(MOST_ENTRIES)))?;
        self.keep(options)
    }

    /// Records the options in place of those before. Returns the places of the new values.
    fn note(&self, options: &[SessionConfigOption]) -> Vec<usize> {
        let values = options.iter().map(|option| (option.config_id.as_str(), current_value(option)));
        self.0.values.lock().replace(values)
    }

    /// Keeps the options, to be set and completed, unless they take too much memory.
    fn keep(&self, options: Vec<SessionConfigOption>) -> io::Result<()> {
        let weight = memory_estimate(&options);
        if weight > KEPT {
            return self.0.view.left_out(&format!(
                "the agent's options take {weight} bytes of memory, and the limit is {KEPT}: those before stay"
            ));
        }
        let ids = options.iter().map(|option| (option.config_id.to_string(), Vec::new()));
        self.0.completions.known().options = ids.collect();
        *self.0.options.lock() = options;
        Ok(())
    }

    /// Keeps the names of commands, to be completed: as many as fit.
    fn note_commands(&self, commands: &[AvailableCommand]) -> io::Result<()> {
        let mut room = KEPT;
        let known = commands.iter().filter_map(|command| match command {
            AvailableCommand::Command(command) => Some((command.name.as_str(), short(&command.description))),
            _ => None,
        });
        let known_count = known.clone().count();
        let fits = known.take_while(|(name, description)| {
            let left = room.checked_sub(name.len() + description.len() + ENTRY);
            room = left.unwrap_or_default();
            left.is_some()
        });
        let fits: Vec<_> = fits.map(|(name, description)| (name.to_owned(), description)).collect();
        let count = known_count - fits.len();
        self.0.completions.known().commands = fits;
        if count == 0 {
            return Ok(());
        }
        self.0.view.left_out(&format!(
            "{count} of the agent's commands are not completed: the others take {KEPT} bytes of memory, which is the limit"
        ))
    }

    fn update(&self, update: SessionUpdate) -> io::Result<()> {
        match update {
            SessionUpdate::ConfigOptionUpdate(update) => self.set(update.config_options),
            SessionUpdate::AvailableCommandsUpdate(update) => self.note_commands(&update.available_commands),
            update => {
                let in_turn = self.0.in_turn.load(Ordering::Relaxed);
                let drawn = &mut *self.0.drawn.lock();
                self.0.view.on_screen(|screen| drawn.draw(screen, update, in_turn))
            }
        }
    }
}

impl v2::Client for Client {
    fn session_update(&self, notification: UpdateSessionNotification) {
        // That it cannot be shown is told where the turn waits.
        let _told_there = self.take_opened();
        let UpdateSessionNotification { session_id, update, .. } = notification;
        let is_ours = self.0.session.lock().as_ref().is_none_or(|ours| *ours == session_id);
        if !self.0.view.is_json() {
            let _told_there = if is_ours { self.update(update) } else { Ok(()) };
            return;
        }
        let update = Arc::new(update);
        let _told_there = self.0.view.large_fact("update", &update);
        let is_setting = matches!(
            *update,
            SessionUpdate::ConfigOptionUpdate(_) | SessionUpdate::AvailableCommandsUpdate(_)
        );
        if is_ours && is_setting {
            let _told_there = self.update(Arc::unwrap_or_clone(update));
        }
    }

    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        let _told_there = self.0.view.unreadable(params, why);
    }

    fn unreadable_message(&self, why: &Error) {
        let _told_there = self.0.view.lost(why);
    }

    fn skipped(&self, method: &str, skipped: Skipped) {
        let _told_there = self.0.view.skipped(method, &skipped);
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        _: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        let _told_there = self.take_opened();
        let ask = async |request: &v1::RequestPermissionRequest| match &self.0.user {
            Some(user) => user.permission(request).await,
            None => Ok(v1::RequestPermissionResponse::cancelled()),
        };
        // Programs want to see all of it afterwards, and ask nobody.
        let (question, told) = match self.0.view.is_json() {
            true => (bare_question(&request), Some(request)),
            false => (permission_question(request), None),
        };
        let answer = self.0.permissions.answer(&question, ask).await?;
        if self.0.rejects {
            self.0.view.rejected(question.tool_call.title.as_deref().unwrap_or_default());
        }
        let outcome = match answer.outcome {
            v1::RequestPermissionOutcome::Selected(selected) => RequestPermissionOutcome::from(selected),
            _ => RequestPermissionResponse::cancelled().outcome,
        };
        if let Some(request) = told {
            self.0.view.permission(request, outcome.clone()).map_err(Error::internal_error)?;
        }
        Ok(RequestPermissionResponse::new(outcome))
    }
}

/// A question of version 1 with the same options, for an answer that does not depend on what is asked.
fn bare_question(request: &RequestPermissionRequest) -> v1::RequestPermissionRequest {
    let call = v1::ToolCallUpdate::new("").title(&request.title);
    v1::RequestPermissionRequest::new(&request.session_id, call, request.options.clone())
}
