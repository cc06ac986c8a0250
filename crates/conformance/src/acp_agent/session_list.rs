//! Checks of agents: listing and deleting sessions.

use super::Agent;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Agent>] = &[];
