//! Mutants of ACP agents that need code.

pub(crate) mod authentication;
pub(crate) mod elicitation;
pub(crate) mod initialization;
pub(crate) mod jsonrpc;
pub(crate) mod mcp_over_acp;
pub(crate) mod mcp_servers;
pub(crate) mod options;
pub(crate) mod prompt;
pub(crate) mod remote;
pub(crate) mod session;
pub(crate) mod session_list;
pub(crate) mod tool_calls;
pub(crate) mod transport;
pub(crate) mod updates;
pub(crate) mod v2;

use crate::mutants::mutant::Mutant;

/// All of them.
pub(super) const MUTANTS: &[&[&[Mutant]]] = &[
    &[
        authentication::MUTANTS,
        elicitation::MUTANTS,
        initialization::MUTANTS,
        jsonrpc::MUTANTS,
        mcp_over_acp::MUTANTS,
        mcp_servers::MUTANTS,
        options::MUTANTS,
        prompt::MUTANTS,
        session::MUTANTS,
        session_list::MUTANTS,
        tool_calls::MUTANTS,
        transport::MUTANTS,
        updates::MUTANTS,
    ],
    remote::MUTANTS,
    v2::MUTANTS,
];
