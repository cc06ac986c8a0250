//! Checks of clients: logging.

use super::McpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<McpClient>] = &[];
