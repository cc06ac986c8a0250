//! The modes and configuration options of a conversation's session.

use agentwire_acp_schema::v1::{
    SessionConfigId, SessionConfigKind, SessionConfigOption, SessionConfigOptionValue, SessionMode,
    SessionModeId, SessionModeState,
};

use super::{Applied, Change, Conversation};

/// The settings of the session: its modes and configuration options.
///
/// An agent with both keeps them equal and prefers the options: show modes only if there are no options.
impl Conversation {
    /// Sets the `modes` and `config_options` of the answer that created, loaded or resumed the session.
    pub fn opened(
        &mut self,
        modes: Option<SessionModeState>,
        config_options: Option<Vec<SessionConfigOption>>,
    ) -> Applied {
        let limits = self.limits;
        let mut omitted = 0;
        if let Some(modes) = modes {
            omitted += self.state.current_mode.set(Some(modes.current_mode_id), limits.field);
            omitted += self.state.modes.set(modes.available_modes, limits.state);
        }
        if let Some(options) = config_options {
            omitted += self.state.config_options.set(options, limits.state);
        }
        self.settle(Change::Settings, omitted)
    }

    /// Returns the available modes.
    pub fn modes(&self) -> &[SessionMode] {
        &self.state.modes.value
    }

    /// Returns the current mode.
    pub fn current_mode(&self) -> Option<&SessionModeId> {
        self.state.current_mode.value.as_ref()
    }

    /// Returns whether the session has this mode.
    pub fn offers_mode(&self, mode: &SessionModeId) -> bool {
        self.modes().iter().any(|offered| offered.id == *mode)
    }

    /// Returns the configuration options in the agent's order, which is significant. Options of unknown types are left
    /// out.
    pub fn config_options(&self) -> impl DoubleEndedIterator<Item = &SessionConfigOption> {
        let known = |option: &&SessionConfigOption| !matches!(option.kind, SessionConfigKind::Unknown(_));
        self.state.config_options.value.iter().filter(known)
    }

    /// Returns whether an option has this value.
    pub fn offers_value(&self, option: &SessionConfigId, value: &SessionConfigOptionValue) -> bool {
        let Some(option) = self.config_options().find(|offered| offered.id == *option) else { return false };
        match (&option.kind, value) {
            (SessionConfigKind::Boolean(_), SessionConfigOptionValue::Boolean(_)) => true,
            (SessionConfigKind::Select(select), SessionConfigOptionValue::ValueId(value)) => {
                select.offers(value)
            }
            _ => false,
        }
    }
}
