//! Checks of the methods that a client offers to agents: files, terminals and elicitation.

pub(super) mod elicitation;
pub(super) mod files;
pub(super) mod terminals;
