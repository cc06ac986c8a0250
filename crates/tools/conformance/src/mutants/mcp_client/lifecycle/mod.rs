//! Mutants of the checks in `mcp_client/lifecycle`.

pub(crate) mod revisions;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] = &[revisions::MUTANTS];
