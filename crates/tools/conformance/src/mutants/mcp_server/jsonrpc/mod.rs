//! Mutants of the checks in `mcp_server/jsonrpc`.

pub(crate) mod malformed;
pub(crate) mod messages;
pub(crate) mod modern;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] = &[malformed::MUTANTS, messages::MUTANTS, modern::MUTANTS];
