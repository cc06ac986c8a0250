//! Checks of servers: Streamable HTTP with sessions.

use super::Server;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Server>] = &[];
