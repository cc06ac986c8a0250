//! Mutants of the checks in `mcp_client/streamable_http`.

pub(crate) mod basics;
pub(crate) mod failures;
pub(crate) mod sessions;
pub(crate) mod streams;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] =
    &[basics::MUTANTS, failures::MUTANTS, sessions::MUTANTS, streams::MUTANTS];
