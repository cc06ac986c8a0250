//! Checks of clients: stdio.

use super::McpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<McpClient>] = &[];
