//! Mutants of the checks in `mcp_client/modern_http`.

pub(crate) mod basics;
pub(crate) mod headers;
pub(crate) mod streams;
pub(crate) mod tools;
pub(crate) mod versions;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] =
    &[basics::MUTANTS, headers::MUTANTS, streams::MUTANTS, tools::MUTANTS, versions::MUTANTS];
