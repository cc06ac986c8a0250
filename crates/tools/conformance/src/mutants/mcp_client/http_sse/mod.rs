//! Mutants of the checks in `mcp_client/http_sse`.

pub(crate) mod basics;
pub(crate) mod fallback;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] = &[basics::MUTANTS, fallback::MUTANTS];
