//! Checks of agents: modes and configuration options.

use super::Agent;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Agent>] = &[];
