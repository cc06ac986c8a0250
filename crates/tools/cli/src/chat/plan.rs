//! Interprets the command line of `chat`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::options::ChatOptions;
use super::settings::RequestedSetting;
use crate::arguments;
use crate::arguments::values::NamedValue;
use crate::chat::permissions::permission_rules::PermissionRules;
use crate::chat::session::continuation::Continuation;
use crate::chat::view::display::DisplayOptions;
use crate::failure::Usage;
use crate::terminal::Format;

/// How long the agent may take to open a session without `--timeout`: 60 s.
const OPENING_TIMEOUT: Duration = Duration::from_secs(60);

/// The command line of `chat`, interpreted.
pub(super) struct Plan {
    pub(super) action: Action,
    /// The session's directory, absolute.
    pub(super) cwd: PathBuf,
    /// The session's directory, if the command line names it.
    pub(super) named_cwd: Option<PathBuf>,
    /// The options and the mode to set when the session is open. The last value of a repeated option counts.
    pub(super) settings: Vec<RequestedSetting>,
    pub(super) prompt: Option<String>,
    /// Whether to read prompts from the terminal, one after the other.
    pub(super) interactive: bool,
    /// The time limit for all answers until a session is open, and for answers between turns.
    pub(super) timeout: Duration,
    /// Whether `timeout` also limits the turn, of which there is only one.
    pub(super) limits_turn: bool,
    /// Whether every permission is granted that no rule refuses.
    pub(super) grants_all: bool,
    /// The method by which to log in before the session opens: its id or name.
    pub(super) auth: Option<String>,
    /// The file for the agent's stderr.
    pub(super) agent_log: Option<PathBuf>,
    /// The options for the command that continues the conversation.
    pub(super) continuation: Continuation,
    chat_options: ChatOptions,
}

pub(super) enum Action {
    List,
    Delete(String),
    Talk(SessionChoice),
}

/// The session to talk in.
pub(super) enum SessionChoice {
    New,
    /// The newest one of the directory.
    Newest,
    Id(String),
}

impl Plan {
    /// # Errors
    ///
    /// When the current directory cannot be found.
    pub(super) fn of(arguments: arguments::Chat) -> Result<Self> {
        let continuation = Continuation::of(&arguments);
        let is_dash = arguments.prompt.as_deref() == Some("-");
        let named_cwd = arguments.cwd.map(std::path::absolute).transpose()?;
        let cwd = match &named_cwd {
            Some(cwd) => cwd.clone(),
            None => std::env::current_dir()?,
        };
        let action = match (arguments.list, arguments.delete, arguments.resume, arguments.session) {
            (true, ..) => Action::List,
            (_, Some(id), ..) => Action::Delete(id),
            (_, _, true, _) => Action::Talk(SessionChoice::Newest),
            (.., Some(id)) => Action::Talk(SessionChoice::Id(id)),
            _ => Action::Talk(SessionChoice::New),
        };
        let interactive = arguments.prompt.is_none() && io::stdin().is_terminal();
        Ok(Self {
            action,
            cwd,
            named_cwd,
            settings: settings(arguments.options, arguments.mode),
            interactive,
            prompt: arguments.prompt.filter(|_| !is_dash),
            timeout: arguments.timeout.unwrap_or(OPENING_TIMEOUT),
            limits_turn: arguments.timeout.is_some() && !interactive,
            grants_all: arguments.yes,
            auth: arguments.chat_options.auth.clone(),
            agent_log: arguments.chat_options.agent_log.clone(),
            continuation,
            chat_options: arguments.chat_options,
        })
    }

    /// The form of the output. `json` is whether `--json` is given, and `configured` is the form in the configuration file.
    ///
    /// # Errors
    ///
    /// For `--json` with another form.
    pub(super) fn format(&self, json: bool, configured: Option<Format>) -> Result<Format, Usage> {
        match (json, self.chat_options.format) {
            (true, Some(Format::Text | Format::Quiet)) => {
                Err(Usage("--json is --format json: leave one of --json and --format out".into()))
            }
            (true, _) => Ok(Format::Json),
            (false, named) => Ok(named.or(configured).unwrap_or_default()),
        }
    }

    /// The display of the session.
    pub(super) fn display(&self) -> DisplayOptions {
        DisplayOptions { shows_replay: !self.chat_options.no_replay, is_interactive: self.interactive }
    }

    /// The rules on permissions.
    ///
    /// # Errors
    ///
    /// For a pattern that nothing could match.
    pub(super) fn rules(&self) -> Result<PermissionRules, Usage> {
        let ChatOptions { allow, deny, approve_reads, .. } = &self.chat_options;
        PermissionRules::new(allow, deny, *approve_reads, &self.cwd)
    }
}

/// The settings in their order. The mode comes last, because an option such as the model is more likely to change the mode
/// than the reverse.
fn settings(options: Vec<NamedValue>, mode: Option<String>) -> Vec<RequestedSetting> {
    let mut settings = Vec::new();
    for NamedValue { id, value } in options {
        settings.retain(
            |setting| !matches!(setting, RequestedSetting::Option { id: before, .. } if *before == id),
        );
        settings.push(RequestedSetting::Option { id, value });
    }
    settings.extend(mode.map(RequestedSetting::Mode));
    settings
}
