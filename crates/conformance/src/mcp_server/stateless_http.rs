//! Checks of servers: Streamable HTTP without sessions.

use super::Server;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Server>] = &[];
