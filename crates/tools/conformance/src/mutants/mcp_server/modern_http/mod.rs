//! Mutants of the checks in `mcp_server/modern_http`.

pub(crate) mod basics;
pub(crate) mod headers;
pub(crate) mod methods;
pub(crate) mod parameters;
pub(crate) mod state;
pub(crate) mod streams;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] =
    &[headers::MUTANTS, methods::MUTANTS, parameters::MUTANTS, state::MUTANTS, streams::MUTANTS];
