//! Mutants of the checks in `mcp_client/jsonrpc`.

pub(crate) mod audits;
pub(crate) mod batches;
pub(crate) mod meta;
pub(crate) mod requests;
pub(crate) mod schemas;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] =
    &[audits::MUTANTS, batches::MUTANTS, meta::MUTANTS, requests::MUTANTS, schemas::MUTANTS];
