//! Checks of servers: questions that a result carries.

use super::Server;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Server>] = &[];
