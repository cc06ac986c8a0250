//! Checks of clients: initialization.

use super::AcpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<AcpClient>] = &[];
