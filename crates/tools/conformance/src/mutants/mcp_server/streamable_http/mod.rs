//! Mutants of the checks in `mcp_server/streamable_http`.

pub(crate) mod posts;
pub(crate) mod resumption;
pub(crate) mod sessions;
pub(crate) mod streams;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] =
    &[posts::MUTANTS, resumption::MUTANTS, sessions::MUTANTS, streams::MUTANTS];
