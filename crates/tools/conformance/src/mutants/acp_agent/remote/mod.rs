//! Mutants of the checks in `acp_agent/remote`.

pub(crate) mod basics;
pub(crate) mod posts;
pub(crate) mod streams;
pub(crate) mod websocket;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[Mutant]] = &[posts::MUTANTS, streams::MUTANTS, websocket::MUTANTS];
