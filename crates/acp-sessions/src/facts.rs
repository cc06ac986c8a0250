//! What holds in a session at this moment: of each thing what was said of it last.

use agentwire_acp_agent::{Client, Error};
use agentwire_acp_schema::v1::{
    AvailableCommand, ClientSessionCapabilities, ConfigOptionUpdate, CurrentModeUpdate, SessionConfigId,
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOptions, SessionConfigValueId, SessionMode, SessionModeId, SessionModeState,
    SessionUpdate, ToolCallId, ToolCallStatus, UsageUpdate,
};

/// What a session begins with, as its agent's author configured it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    modes: Vec<SessionMode>,
    mode: Option<SessionModeId>,
    options: Vec<SessionConfigOption>,
    pub(crate) commands: Vec<AvailableCommand>,
    usage: Option<UsageUpdate>,
    /// Tool calls that have neither succeeded nor failed yet.
    open_calls: Vec<ToolCallId>,
}

/// Something that is to be kept, and whether the client is to hear it too.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) update: SessionUpdate,
    pub(crate) aloud: bool,
    /// Whether it is shortened where it is too long, rather than refused.
    pub(crate) shorten: bool,
}

impl Said {
    pub(crate) fn aloud(update: impl Into<SessionUpdate>) -> Self {
        Self { update: update.into(), aloud: true, shorten: false }
    }

    pub(crate) fn silently(update: impl Into<SessionUpdate>) -> Self {
        Self { update: update.into(), aloud: false, shorten: false }
    }
}

impl Facts {
    pub(crate) fn set_modes(&mut self, state: SessionModeState) {
        self.modes = state.available_modes;
        self.enter(&state.current_mode_id);
    }

    pub(crate) fn set_options(&mut self, options: Vec<SessionConfigOption>) {
        self.options = options;
        if let Some(mode) = self.mode.clone() {
            self.show_mode(&mode);
        }
    }

    pub(crate) fn mode(&self) -> Option<&SessionModeId> {
        self.mode.as_ref()
    }

    pub(crate) fn usage(&self) -> Option<&UsageUpdate> {
        self.usage.as_ref()
    }

    /// The modes as a client is told of them; none where there are none.
    pub(crate) fn mode_state(&self) -> Option<SessionModeState> {
        let mode = self.mode.clone()?;
        Some(SessionModeState::new(mode, self.modes.clone()))
    }

    /// The options as this client is told of them; none where there are none.
    pub(crate) fn options_for(&self, client: &Client) -> Option<Vec<SessionConfigOption>> {
        let options = shown(client, self.options.clone());
        (!options.is_empty()).then_some(options)
    }

    pub(crate) fn option(&self, id: &str) -> Option<SessionConfigOptionValue> {
        let option = self.options.iter().find(|option| *option.id == *id)?;
        match &option.kind {
            SessionConfigKind::Select(select) => Some(select.current_value.clone().into()),
            SessionConfigKind::Boolean(boolean) => Some(boolean.current_value.into()),
            _ => None,
        }
    }

    /// Tool calls that were begun and never ended.
    pub(crate) fn take_open_calls(&mut self) -> Vec<ToolCallId> {
        std::mem::take(&mut self.open_calls)
    }

    /// Takes note of what is said now.
    pub(crate) fn tell(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::CurrentModeUpdate(update) => self.enter(&update.current_mode_id),
            SessionUpdate::ConfigOptionUpdate(update) => self.options.clone_from(&update.config_options),
            SessionUpdate::AvailableCommandsUpdate(update) => {
                self.commands.clone_from(&update.available_commands);
            }
            SessionUpdate::UsageUpdate(update) => self.usage = Some(update.clone()),
            SessionUpdate::ToolCall(call) => self.note_call(&call.tool_call_id, &call.status),
            SessionUpdate::ToolCallUpdate(call) => {
                if let Some(status) = &call.status {
                    self.note_call(&call.tool_call_id, status);
                }
            }
            _ => {}
        }
    }

    /// Takes note of what was said in an earlier life of the session. What can be chosen is what the agent offers
    /// today; what was chosen then holds where that can still be.
    pub(crate) fn recall(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::CurrentModeUpdate(update) if self.has_mode(&update.current_mode_id) => {
                self.enter(&update.current_mode_id);
            }
            SessionUpdate::CurrentModeUpdate(_) => {}
            SessionUpdate::ConfigOptionUpdate(update) => {
                for then in &update.config_options {
                    if let Some(now) = self.options.iter_mut().find(|now| now.id == then.id) {
                        take_value(now, then);
                    }
                }
                if let Some(mode) = self.shown_mode(&self.options) {
                    self.mode = Some(mode);
                }
            }
            update => self.tell(update),
        }
    }

    /// What there is to say when the mode changes: that, and how the option that shows it changes.
    ///
    /// # Errors
    ///
    /// When there is no such mode.
    pub(crate) fn choose_mode(
        &self,
        mode: &SessionModeId,
    ) -> Result<(SessionUpdate, Option<SessionUpdate>), Error> {
        let update = CurrentModeUpdate::new(mode.clone()).into();
        let shows = self.follows(&update)?;
        Ok((update, shows))
    }

    /// What else there is to say with an update, so that the mode and the option that shows it agree.
    ///
    /// # Errors
    ///
    /// When there is no such mode.
    pub(crate) fn follows(&self, update: &SessionUpdate) -> Result<Option<SessionUpdate>, Error> {
        match update {
            SessionUpdate::CurrentModeUpdate(update) => {
                let mode = &update.current_mode_id;
                if !self.has_mode(mode) {
                    return Err(Error::invalid_params(format_args!("there is no mode {mode:?}")));
                }
                let mut then = self.clone();
                Ok(then.show_mode(mode).then(|| then.options_update()))
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                let mode = self.shown_mode(&update.config_options);
                let mode = mode.filter(|mode| self.mode.as_ref() != Some(mode));
                Ok(mode.map(|mode| CurrentModeUpdate::new(mode).into()))
            }
            _ => Ok(None),
        }
    }

    /// What there is to say when an option is given another value: that, and the mode where the option shows it.
    ///
    /// # Errors
    ///
    /// When there is no such option, or it has no such value.
    pub(crate) fn choose_option(
        &self,
        id: &SessionConfigId,
        value: &SessionConfigOptionValue,
    ) -> Result<(SessionUpdate, Option<SessionUpdate>), Error> {
        let mut options = self.options.clone();
        let Some(option) = options.iter_mut().find(|option| option.id == *id) else {
            return Err(Error::invalid_params(format_args!("there is no option {id:?}")));
        };
        match (&mut option.kind, value) {
            (SessionConfigKind::Boolean(boolean), SessionConfigOptionValue::Boolean(on)) => {
                boolean.current_value = *on;
            }
            (SessionConfigKind::Select(select), SessionConfigOptionValue::ValueId(value))
                if has_value(&select.options, value) =>
            {
                select.current_value = value.clone();
            }
            _ => return Err(Error::invalid_params(format_args!("the option {id:?} has no value {value:?}"))),
        }
        let update = ConfigOptionUpdate::new(options).into();
        let mode = self.follows(&update)?;
        Ok((update, mode))
    }

    /// The mode that these options show, if it is one of ours.
    fn shown_mode(&self, options: &[SessionConfigOption]) -> Option<SessionModeId> {
        let value = |option: &SessionConfigOption| match &option.kind {
            SessionConfigKind::Select(select) if is_mode(option.category.as_ref()) => {
                Some(SessionModeId::from(select.current_value.as_str()))
            }
            _ => None,
        };
        options.iter().filter_map(value).find(|mode| self.has_mode(mode))
    }

    fn has_mode(&self, mode: &SessionModeId) -> bool {
        self.modes.iter().any(|known| known.id == *mode)
    }

    fn enter(&mut self, mode: &SessionModeId) {
        self.mode = Some(mode.clone());
        self.show_mode(mode);
    }

    /// Sets the option of the category `mode` to the mode, if there is one. Says whether that changed it.
    fn show_mode(&mut self, mode: &SessionModeId) -> bool {
        let value = SessionConfigValueId::from(mode.as_str());
        for option in self.options.iter_mut().filter(|option| is_mode(option.category.as_ref())) {
            if let SessionConfigKind::Select(select) = &mut option.kind
                && has_value(&select.options, &value)
            {
                return std::mem::replace(&mut select.current_value, value.clone()) != value;
            }
        }
        false
    }

    fn options_update(&self) -> SessionUpdate {
        ConfigOptionUpdate::new(self.options.clone()).into()
    }

    fn note_call(&mut self, id: &ToolCallId, status: &ToolCallStatus) {
        self.open_calls.retain(|open| open != id);
        if matches!(status, ToolCallStatus::Pending | ToolCallStatus::InProgress) {
            self.open_calls.push(id.clone());
        }
    }
}

/// An update as this client is told of it.
pub(crate) fn told(client: &Client, update: SessionUpdate) -> SessionUpdate {
    match update {
        SessionUpdate::ConfigOptionUpdate(mut update) => {
            update.config_options = shown(client, update.config_options);
            SessionUpdate::ConfigOptionUpdate(update)
        }
        update => update,
    }
}

/// The options that this client understands.
fn shown(client: &Client, mut options: Vec<SessionConfigOption>) -> Vec<SessionConfigOption> {
    let session = session_capabilities(client).and_then(|session| session.config_options.as_ref());
    if session.is_none_or(|options| options.boolean.is_none()) {
        options.retain(|option| !matches!(option.kind, SessionConfigKind::Boolean(_)));
    }
    options
}

fn session_capabilities(client: &Client) -> Option<&ClientSessionCapabilities> {
    client.capabilities().and_then(|client| client.session.as_ref())
}

fn is_mode(category: Option<&SessionConfigOptionCategory>) -> bool {
    matches!(category, Some(SessionConfigOptionCategory::Mode))
}

fn has_value(options: &SessionConfigSelectOptions, value: &SessionConfigValueId) -> bool {
    match options {
        SessionConfigSelectOptions::Ungrouped(options) => options.iter().any(|option| option.value == *value),
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).any(|option| option.value == *value)
        }
        _ => false,
    }
}

/// Sets an option as it was set before, where it can still be.
fn take_value(now: &mut SessionConfigOption, then: &SessionConfigOption) {
    match (&mut now.kind, &then.kind) {
        (SessionConfigKind::Select(now), SessionConfigKind::Select(then))
            if has_value(&now.options, &then.current_value) =>
        {
            now.current_value = then.current_value.clone();
        }
        (SessionConfigKind::Boolean(now), SessionConfigKind::Boolean(then)) => {
            now.current_value = then.current_value;
        }
        _ => {}
    }
}
