//! The checks of ACP proxies, in the order of the requirements.

use super::{Proxy, envelopes, forwarding, initialization};
use crate::check::Check;

/// All checks.
pub(crate) const CHECKS: &[&[Check<Proxy>]] =
    &[initialization::CHECKS, forwarding::CHECKS, envelopes::CHECKS];
