//! The commands of the update log, and the updates that follow from them.

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{
    Content, SessionConfigId, SessionConfigOptionValue, SessionModeId, SessionUpdate, ToolCallId,
    ToolCallStatus, ToolCallUpdate,
};
use agentwire_sync::Mutex;

use crate::state::SessionState;

/// An update, with its destinations: the store, the client, or both.
#[derive(Debug)]
pub(crate) struct Update {
    pub(super) update: SessionUpdate,
    /// Whether it is written to the store.
    pub(super) is_stored: bool,
    /// Whether it is sent to the client.
    pub(super) is_sent: bool,
    /// Whether it is shortened, not refused, if it is over the limit.
    pub(super) is_shortened: bool,
}

impl Update {
    /// Returns an update that is stored and sent.
    pub(crate) fn broadcast(update: impl Into<SessionUpdate>) -> Self {
        Self { update: update.into(), is_stored: true, is_sent: true, is_shortened: false }
    }

    /// Returns an update that is stored and not sent, because the client knows it already.
    pub(crate) fn record(update: impl Into<SessionUpdate>) -> Self {
        Self { is_sent: false, ..Self::broadcast(update) }
    }

    /// Returns an update that is sent and not stored.
    pub(crate) fn announcement(update: impl Into<SessionUpdate>) -> Self {
        Self { is_stored: false, ..Self::broadcast(update) }
    }

    /// Sets that the update is shortened if it is over the limit.
    pub(crate) fn shortened(self) -> Self {
        Self { is_shortened: true, ..self }
    }

    pub(crate) fn session_update(&self) -> &SessionUpdate {
        &self.update
    }

    /// Returns whether it changes the mode or an option.
    fn is_choice(&self) -> bool {
        matches!(self.update, SessionUpdate::CurrentModeUpdate(_) | SessionUpdate::ConfigOptionUpdate(_))
    }
}

/// Returns the update with the final status of a tool call.
pub(crate) fn ended_call(call: ToolCallId, status: ToolCallStatus, why: &str) -> SessionUpdate {
    ToolCallUpdate::new(call).status(status).content([Content::from(why)]).into()
}

/// The change that a command makes.
#[derive(Debug)]
pub(crate) enum Change {
    /// Nothing. The command completes after all commands before it.
    Nothing,
    /// One update. An update of the mode is followed by one of the option for the mode, and the reverse.
    Update(Update),
    /// The blocks of a prompt.
    Prompt(Vec<Update>),
    Mode {
        mode: SessionModeId,
        by: ChosenBy,
    },
    Option {
        id: SessionConfigId,
        value: SessionConfigOptionValue,
        by: ChosenBy,
    },
    /// Sets a final status of the tool calls that are open.
    EndOpenCalls {
        status: ToolCallStatus,
        why: &'static str,
    },
}

/// The side that has chosen a mode or an option. The client knows its own choice, and receives only the updates that follow
/// from it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChosenBy {
    Agent,
    Client,
}

impl Change {
    /// Returns whether the updates depend on the state, and so on all updates before them.
    pub(super) fn reads_state(&self) -> bool {
        match self {
            Self::Mode { .. } | Self::Option { .. } | Self::EndOpenCalls { .. } => true,
            Self::Update(update) => update.is_choice(),
            Self::Nothing | Self::Prompt(_) => false,
        }
    }

    /// Returns the updates in their order.
    ///
    /// # Errors
    ///
    /// When the session has no such mode, option or value.
    pub(super) fn updates(self, state: &Mutex<SessionState>) -> Result<Vec<Update>, Error> {
        let (first, companion, by) = match self {
            Self::Nothing => return Ok(Vec::new()),
            Self::Prompt(updates) => return Ok(updates),
            Self::EndOpenCalls { status, why } => {
                let state = state.lock();
                let ended = |call: &ToolCallId| ended_call(call.clone(), status.clone(), why);
                return Ok(state.open_calls().iter().map(ended).map(Update::broadcast).collect());
            }
            Self::Update(update) if !update.is_choice() => return Ok(vec![update]),
            Self::Update(first) => {
                let companion = state.lock().companion(&first.update)?;
                return Ok([first].into_iter().chain(companion.map(Update::broadcast)).collect());
            }
            Self::Mode { mode, by } => {
                let (mode, option) = state.lock().choose_mode(&mode)?;
                (mode, option, by)
            }
            Self::Option { id, value, by } => {
                let (options, mode) = state.lock().choose_option(&id, &value)?;
                (options, mode, by)
            }
        };
        let first = match by {
            ChosenBy::Agent => Update::broadcast(first),
            ChosenBy::Client => Update::record(first),
        };
        Ok([first].into_iter().chain(companion.map(Update::broadcast)).collect())
    }
}
