//! Checks of agents: the draft of version 2.

use super::Agent;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Agent>] = &[];
