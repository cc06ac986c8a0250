use agentwire_acp_schema::v1::{
    AvailableCommand, Meta, Patch, Plan, SessionConfigOption, SessionInfoUpdate, SessionMode, SessionModeId,
    UsageUpdate,
};
use serde::Serialize;

use super::limits::{Limits, replace};

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

    /// Takes over what the update says. Says how much is left out.
    pub(super) fn patch_info(&mut self, update: SessionInfoUpdate, limits: Limits) -> usize {
        let mut omitted = self.title.patch(update.title, limits);
        omitted += self.updated_at.patch(update.updated_at, limits);
        match update.meta {
            Some(meta) => omitted + self.meta.set(Some(meta), limits),
            None => omitted,
        }
    }
}

/// A value and its weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Held<T> {
    pub(super) value: T,
    weight: usize,
}

impl<T: Serialize> Held<T> {
    /// Takes over a value unless it is too large. Says how much is left out.
    pub(super) fn set(&mut self, value: T, limits: Limits) -> usize {
        replace(&mut self.value, value, &mut self.weight, limits.state())
    }
}

impl<T: Serialize> Held<Option<T>> {
    fn patch(&mut self, patch: Patch<T>, limits: Limits) -> usize {
        match patch {
            Patch::Keep => 0,
            Patch::Clear => self.set(None, limits),
            Patch::Set(value) => self.set(Some(value), limits),
        }
    }
}
