//! Mutants of the checks in `mcp_server/jsonrpc/malformed.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-20" => [
        "reads bytes as Latin-1" => faults::each_response(|m| if let Some(id) = m["id"].as_str() {
            m["id"] = id.bytes().map(char::from).collect::<String>().into();
        }),
    ],
];
