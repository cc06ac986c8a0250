//! Checks of agents: elicitation.

use super::Agent;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Agent>] = &[];
