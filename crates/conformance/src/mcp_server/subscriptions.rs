//! Checks of servers: subscriptions.

use super::Server;
use crate::check::Check;

pub(super) const CHECKS: &[Check<Server>] = &[];
