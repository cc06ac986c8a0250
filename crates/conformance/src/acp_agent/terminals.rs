//! Checks of agents: terminals.

use super::Agent;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Agent>] = &[];
