//! Mutants of ACP clients that need code.

pub(crate) mod content;
pub(crate) mod elicitation;
pub(crate) mod files;
pub(crate) mod initialization;
pub(crate) mod jsonrpc;
pub(crate) mod mcp_over_acp;
pub(crate) mod options;
pub(crate) mod remote;
pub(crate) mod session;
pub(crate) mod session_list;
pub(crate) mod terminals;
pub(crate) mod transport;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[&[Mutant]]] = &[&[
    content::MUTANTS,
    elicitation::MUTANTS,
    files::MUTANTS,
    initialization::MUTANTS,
    jsonrpc::MUTANTS,
    mcp_over_acp::MUTANTS,
    options::MUTANTS,
    remote::MUTANTS,
    session::MUTANTS,
    session_list::MUTANTS,
    terminals::MUTANTS,
    transport::MUTANTS,
]];
