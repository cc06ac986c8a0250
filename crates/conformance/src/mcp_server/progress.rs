//! Checks of servers: progress.

use super::Server;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Server>] = &[];
