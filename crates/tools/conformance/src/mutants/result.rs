//! The outcome of one check on one of its mutants.

use serde::Serialize;

use crate::requirements::revision::Revision;
use crate::verdict::Verdict;

/// The verdict of a check on one of its mutants.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MutantResult {
    /// The requirement, such as `mcp/RPC-06`.
    pub requirement: String,
    /// The check: its module and function.
    pub check: String,
    /// The name of the mutant: its fault in words.
    pub mutant: String,
    /// The revision.
    pub revision: Revision,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl MutantResult {
    /// Whether the check failed, as it has to.
    pub fn is_caught(&self) -> bool {
        matches!(self.verdict, Verdict::Fail(_))
    }
}
