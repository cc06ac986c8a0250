//! Checks of clients: modes and configuration options.

use super::AcpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<AcpClient>] = &[];
