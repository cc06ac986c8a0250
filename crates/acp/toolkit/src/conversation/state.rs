//! The latest values of a session: plan, usage, commands, modes, options and information.

use agentwire_acp_schema::v1::{
    AvailableCommand, Meta, Patch, Plan, SessionConfigOption, SessionInfoUpdate, SessionMode, SessionModeId,
    UsageUpdate,
};
use serde::Serialize;

use super::limits::{ConversationLimits, replace};

/// The current state of the session: the latest value of each update that is not an entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SessionState {
    pub(super) plan: WeighedValue<Option<Plan>>,
    pub(super) usage: WeighedValue<Option<UsageUpdate>>,
    pub(super) commands: WeighedValue<Vec<AvailableCommand>>,
    pub(super) modes: WeighedValue<Vec<SessionMode>>,
    pub(super) current_mode: WeighedValue<Option<SessionModeId>>,
    pub(super) config_options: WeighedValue<Vec<SessionConfigOption>>,
    pub(super) title: WeighedValue<Option<String>>,
    pub(super) updated_at: WeighedValue<Option<String>>,
    pub(super) meta: WeighedValue<Option<Meta>>,
}

impl SessionState {
    pub(super) fn weight(&self) -> usize {
        let Self { plan, usage, commands, modes, current_mode, config_options, title, updated_at, meta } =
            self;
        let lists = plan.weight + commands.weight + modes.weight + config_options.weight;
        lists + usage.weight + current_mode.weight + title.weight + updated_at.weight + meta.weight
    }

    /// Applies an update. Returns whether the title has changed, and how many bytes are left out.
    pub(super) fn patch_info(
        &mut self,
        update: SessionInfoUpdate,
        limits: ConversationLimits,
    ) -> (bool, usize) {
        let (title, mut omitted) = self.title.patch(update.title, limits.field);
        omitted += self.updated_at.patch(update.updated_at, limits.field).1;
        if let Some(meta) = update.meta {
            omitted += self.meta.set(Some(meta), limits.state);
        }
        (title, omitted)
    }
}

/// A value and its weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WeighedValue<T> {
    pub(super) value: T,
    weight: usize,
}

impl<T: Serialize + PartialEq> WeighedValue<T> {
    /// Sets the value, unless it is too large. Returns how many bytes are left out.
    pub(super) fn set(&mut self, value: T, limit: usize) -> usize {
        replace(&mut self.value, value, &mut self.weight, limit, &mut false)
    }
}

impl<T: Serialize + PartialEq> WeighedValue<Option<T>> {
    /// Applies a patch. Returns whether the value has changed, and how many bytes are left out.
    fn patch(&mut self, patch: Patch<T>, limit: usize) -> (bool, usize) {
        let mut changed = false;
        let value = match patch {
            Patch::Keep => return (false, 0),
            Patch::Clear => None,
            Patch::Set(value) => Some(value),
        };
        let omitted = replace(&mut self.value, value, &mut self.weight, limit, &mut changed);
        (changed, omitted)
    }
}
