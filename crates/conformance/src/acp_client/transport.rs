//! Checks of clients: transport.

use super::AcpClient;
use crate::check::Check;

pub(super) const CHECKS: &[Check<AcpClient>] = &[];
