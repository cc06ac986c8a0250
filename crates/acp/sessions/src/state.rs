//! The current state of a session: the latest value of each mode, option, title and usage update.

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{
    AvailableCommand, ClientSessionCapabilities, ConfigOptionUpdate, CurrentModeUpdate, SessionConfigId,
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOption, SessionConfigValueId, SessionMode, SessionModeId, SessionModeState,
    SessionUpdate, ToolCallId, ToolCallStatus, UsageUpdate,
};

use crate::client::RemoteClient;
use crate::update::tool_call::is_open;

/// The id of the option that [`SessionState::add_mode_option`] adds for clients of version 2.
const MODE_OPTION: &str = "mode";

/// The state of a session. The state in the settings of an agent is the one in which its sessions begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionState {
    modes: Vec<SessionMode>,
    mode: Option<SessionModeId>,
    options: Vec<SessionConfigOption>,
    pub(crate) commands: Vec<AvailableCommand>,
    pub(crate) title: Option<String>,
    usage: Option<UsageUpdate>,
    /// Tool calls that have neither succeeded nor failed.
    open_calls: Vec<ToolCallId>,
}

impl SessionState {
    pub(crate) fn set_modes(&mut self, state: SessionModeState) {
        self.modes = state.available_modes;
        self.set_mode(&state.current_mode_id);
    }

    pub(crate) fn set_options(&mut self, options: Vec<SessionConfigOption>) {
        self.options = options;
        if let Some(mode) = self.mode.clone() {
            self.set_mode_option(&mode);
        }
    }

    /// Adds an option for the mode, if the agent has modes and no option for them.
    pub(crate) fn add_mode_option(&mut self) {
        let Some(mode) = self.mode.clone() else { return };
        if self.options.iter().any(|option| *option.id == *MODE_OPTION) || self.shows_mode(&mode) {
            return;
        }
        let value = |mode: &SessionMode| {
            let mut value = SessionConfigSelectOption::new(mode.id.as_str(), &*mode.name);
            value.description.clone_from(&mode.description);
            value
        };
        let values: Vec<_> = self.modes.iter().map(value).collect();
        let option = SessionConfigOption::select(MODE_OPTION, "Mode", mode.as_str(), values);
        self.options.insert(0, option.category(SessionConfigOptionCategory::Mode));
    }

    /// Removes from recorded options the one that [`add_mode_option`](Self::add_mode_option) has added. An option of the agent
    /// with the same id stays.
    pub(crate) fn remove_mode_option(&self, recorded: &mut Vec<SessionConfigOption>) {
        if !self.options.iter().any(|option| *option.id == *MODE_OPTION) {
            recorded.retain(|option| *option.id != *MODE_OPTION || !is_mode(option.category.as_ref()));
        }
    }

    /// Returns whether an option of the category `mode` has the mode among its values.
    fn shows_mode(&self, mode: &SessionModeId) -> bool {
        let value = SessionConfigValueId::from(mode.as_str());
        let shows = |option: &SessionConfigOption| match &option.kind {
            SessionConfigKind::Select(select) => is_mode(option.category.as_ref()) && select.offers(&value),
            _ => false,
        };
        self.options.iter().any(shows)
    }

    pub(crate) fn mode(&self) -> Option<&SessionModeId> {
        self.mode.as_ref()
    }

    pub(crate) fn usage(&self) -> Option<&UsageUpdate> {
        self.usage.as_ref()
    }

    /// Returns the modes as a client sees them, or `None` if the agent has no modes.
    pub(crate) fn mode_state(&self) -> Option<SessionModeState> {
        let mode = self.mode.clone()?;
        Some(SessionModeState::new(mode, self.modes.clone()))
    }

    /// Returns the options that the client supports, or `None` if there are none.
    pub(crate) fn options_for(&self, client: &RemoteClient) -> Option<Vec<SessionConfigOption>> {
        let options = supported(client, self.options.clone());
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

    /// Returns the tool calls that have neither succeeded nor failed.
    pub(crate) fn open_calls(&self) -> &[ToolCallId] {
        &self.open_calls
    }

    /// Applies an update.
    pub(crate) fn apply(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::CurrentModeUpdate(update) => self.set_mode(&update.current_mode_id),
            SessionUpdate::ConfigOptionUpdate(update) => self.options.clone_from(&update.config_options),
            SessionUpdate::AvailableCommandsUpdate(update) => {
                self.commands.clone_from(&update.available_commands);
            }
            SessionUpdate::UsageUpdate(update) => self.usage = Some(update.clone()),
            SessionUpdate::SessionInfoUpdate(update) => update.title.clone().apply(&mut self.title),
            SessionUpdate::ToolCall(call) => self.set_call_status(&call.tool_call_id, &call.status),
            SessionUpdate::ToolCallUpdate(call) => {
                if let Some(status) = &call.status {
                    self.set_call_status(&call.tool_call_id, status);
                }
            }
            _ => {}
        }
    }

    /// Applies an update from the store. The agent may offer other modes and options than when it was stored; a choice that is
    /// not offered any more is ignored.
    pub(crate) fn restore(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::CurrentModeUpdate(update) if self.has_mode(&update.current_mode_id) => {
                self.set_mode(&update.current_mode_id);
            }
            SessionUpdate::CurrentModeUpdate(_) => {}
            SessionUpdate::ConfigOptionUpdate(update) => {
                for earlier in &update.config_options {
                    if let Some(option) = self.options.iter_mut().find(|option| option.id == earlier.id) {
                        restore_value(option, earlier);
                    }
                }
                if let Some(mode) = self.selected_mode(&self.options) {
                    self.mode = Some(mode);
                }
            }
            update => self.apply(update),
        }
    }

    /// Returns the update that changes the mode, and an update of the options if the option for the mode changes too.
    ///
    /// # Errors
    ///
    /// When there is no such mode.
    pub(crate) fn choose_mode(
        &self,
        mode: &SessionModeId,
    ) -> Result<(SessionUpdate, Option<SessionUpdate>), Error> {
        let update = CurrentModeUpdate::new(mode.clone()).into();
        let companion = self.companion(&update)?;
        Ok((update, companion))
    }

    /// Returns the update that must follow this one so that the mode and the option for it agree, or `None` if they agree.
    ///
    /// # Errors
    ///
    /// When there is no such mode.
    pub(crate) fn companion(&self, update: &SessionUpdate) -> Result<Option<SessionUpdate>, Error> {
        match update {
            SessionUpdate::CurrentModeUpdate(update) => {
                let mode = &update.current_mode_id;
                if !self.has_mode(mode) {
                    return Err(Error::invalid_params(format_args!("there is no mode {mode:?}")));
                }
                let mut changed = self.clone();
                Ok(changed.set_mode_option(mode).then(|| changed.options_update()))
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                let mode = self.selected_mode(&update.config_options);
                let mode = mode.filter(|mode| self.mode.as_ref() != Some(mode));
                Ok(mode.map(|mode| CurrentModeUpdate::new(mode).into()))
            }
            _ => Ok(None),
        }
    }

    /// Returns the update that changes the value of an option, and an update of the mode if the option is the one for the mode.
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
                if select.offers(value) =>
            {
                select.current_value = value.clone();
            }
            _ => return Err(Error::invalid_params(format_args!("the option {id:?} has no value {value:?}"))),
        }
        let update = ConfigOptionUpdate::new(options).into();
        let companion = self.companion(&update)?;
        Ok((update, companion))
    }

    /// Returns the value of the option for the mode, if the session has that mode.
    fn selected_mode(&self, options: &[SessionConfigOption]) -> Option<SessionModeId> {
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

    fn set_mode(&mut self, mode: &SessionModeId) {
        self.mode = Some(mode.clone());
        self.set_mode_option(mode);
    }

    /// Sets the option of the category `mode` to the mode, if there is one. Returns whether that changed it.
    fn set_mode_option(&mut self, mode: &SessionModeId) -> bool {
        let value = SessionConfigValueId::from(mode.as_str());
        for option in self.options.iter_mut().filter(|option| is_mode(option.category.as_ref())) {
            if let SessionConfigKind::Select(select) = &mut option.kind
                && select.offers(&value)
            {
                return std::mem::replace(&mut select.current_value, value.clone()) != value;
            }
        }
        false
    }

    fn options_update(&self) -> SessionUpdate {
        ConfigOptionUpdate::new(self.options.clone()).into()
    }

    fn set_call_status(&mut self, id: &ToolCallId, status: &ToolCallStatus) {
        self.open_calls.retain(|open| open != id);
        if is_open(status) {
            self.open_calls.push(id.clone());
        }
    }
}

/// Returns an update without the options that the client does not support.
pub(crate) fn for_client(client: &RemoteClient, update: SessionUpdate) -> SessionUpdate {
    match update {
        SessionUpdate::ConfigOptionUpdate(mut update) => {
            update.config_options = supported(client, update.config_options);
            SessionUpdate::ConfigOptionUpdate(update)
        }
        update => update,
    }
}

/// Returns the options that the client supports.
fn supported(client: &RemoteClient, mut options: Vec<SessionConfigOption>) -> Vec<SessionConfigOption> {
    let session = session_capabilities(client).and_then(|session| session.config_options.as_ref());
    if session.is_none_or(|options| options.boolean.is_none()) {
        options.retain(|option| !matches!(option.kind, SessionConfigKind::Boolean(_)));
    }
    options
}

fn session_capabilities(client: &RemoteClient) -> Option<&ClientSessionCapabilities> {
    client.capabilities().and_then(|client| client.session.as_ref())
}

fn is_mode(category: Option<&SessionConfigOptionCategory>) -> bool {
    matches!(category, Some(SessionConfigOptionCategory::Mode))
}

/// Restores the earlier value of an option, if the option still offers it.
fn restore_value(option: &mut SessionConfigOption, earlier: &SessionConfigOption) {
    match (&mut option.kind, &earlier.kind) {
        (SessionConfigKind::Select(select), SessionConfigKind::Select(earlier))
            if select.offers(&earlier.current_value) =>
        {
            select.current_value = earlier.current_value.clone();
        }
        (SessionConfigKind::Boolean(boolean), SessionConfigKind::Boolean(earlier)) => {
            boolean.current_value = earlier.current_value;
        }
        _ => {}
    }
}
