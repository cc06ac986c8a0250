//! Checks of clients: Streamable HTTP without sessions.

use super::McpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<McpClient>] = &[];
