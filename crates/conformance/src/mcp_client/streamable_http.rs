//! Checks of clients: Streamable HTTP with sessions.

use super::McpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<McpClient>] = &[];
