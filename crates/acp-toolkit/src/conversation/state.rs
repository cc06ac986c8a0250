use agentwire_acp_schema::v1::{
    AvailableCommand, Meta, Patch, Plan, SessionConfigOption, SessionInfoUpdate, SessionMode, SessionModeId,
    UsageUpdate,
};
use serde::Serialize;

use super::limits::{ConversationLimits, replace};

/// What holds for the session now, wherever in the flow it was said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    pub(super) plan: Held<Option<Plan>>,
    pub(super) usage: Held<Option<UsageUpdate>>,
    pub(super) commands: Held<Vec<AvailableCommand>>,
    pub(super) modes: Held<Vec<SessionMode>>,
    pub(super) current_mode: Held<Option<SessionModeId>>,
    pub(super) config_options: Held<Vec<SessionConfigOption>>,
    pub(super) title: Held<Option<String>>,
    pub(super) updated_at: Held<Option<String>>,
    pub(super) meta: Held<Option<Meta>>,
}

impl State {
    pub(super) fn weight(&self) -> usize {
        let Self { plan, usage, commands, modes, current_mode, config_options, title, updated_at, meta } =
            self;
        let lists = plan.weight + commands.weight + modes.weight + config_options.weight;
        lists + usage.weight + current_mode.weight + title.weight + updated_at.weight + meta.weight
    }

    /// Takes over what the update says. Says whether the title is another one, and how much is left out.
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
pub(super) struct Held<T> {
    pub(super) value: T,
    weight: usize,
}

impl<T: Serialize + PartialEq> Held<T> {
    /// Takes over a value unless it is too large. Says how much is left out.
    pub(super) fn set(&mut self, value: T, limit: usize) -> usize {
        replace(&mut self.value, value, &mut self.weight, limit, &mut false)
    }
}

impl<T: Serialize + PartialEq> Held<Option<T>> {
    /// Does what the patch says. Says whether the value is another one, and how much is left out.
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
