//! Checks of clients: updates.

use super::AcpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<AcpClient>] = &[];
