//! Checks of clients: questions that a result carries.

use super::McpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<McpClient>] = &[];
