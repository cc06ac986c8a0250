//! Checks of clients: listing and deleting sessions.

use super::AcpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<AcpClient>] = &[];
