//! Mutants of the checks in `mcp_server/tasks`.

pub(crate) mod course;
pub(crate) mod requests;
pub(crate) mod start;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] = &[course::MUTANTS, requests::MUTANTS, start::MUTANTS];
