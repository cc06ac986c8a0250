//! Checks of servers: logging.

use super::Server;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Server>] = &[];
