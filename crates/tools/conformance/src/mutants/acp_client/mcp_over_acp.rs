//! Mutants of the checks in `acp_client/session/mcp_over_acp.rs`.

use crate::acp_client::session::mcp_over_acp::MESSAGE;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "MOA-03" => [
        "answers with MCP's result itself" => faults::result_of(MESSAGE, |result| *result = result["result"].take()),
    ],
    "MOA-04" => [
        "sends MCP's notifications as its own" => faults::each_call(MESSAGE, |message| {
            message["method"] = message["params"]["method"].take();
            message["params"] = message["params"]["params"].take();
        }),
    ],
];
