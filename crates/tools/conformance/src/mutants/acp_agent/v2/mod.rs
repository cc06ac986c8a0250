//! Mutants of the checks in `acp_agent/v2`.

pub(crate) mod cancel;
pub(crate) mod refusals;
pub(crate) mod updates;
pub(crate) mod work;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] =
    &[cancel::MUTANTS, refusals::MUTANTS, updates::MUTANTS, work::MUTANTS];
