//! The checks of ACP conductors, in the order of the requirements.

use super::{Conductor, cancellation, envelopes, initialization};
use crate::check::Check;

/// All checks.
pub(crate) const CHECKS: &[&[Check<Conductor>]] =
    &[initialization::CHECKS, envelopes::CHECKS, cancellation::CHECKS];
