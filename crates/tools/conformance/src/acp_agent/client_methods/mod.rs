//! Checks of what an agent asks of its client: files, terminals and elicitation.

pub(crate) mod elicitation;
pub(super) mod files;
pub(super) mod terminals;
