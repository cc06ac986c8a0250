//! Mutants of the checks in `mcp_server/modern_http/parameters.rs`.

use crate::mcp_server::modern_http::parameters::{VALUE, encoded};
use crate::mutants::mcp_server::modern_http::basics::refuses;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-19" => [
        "does not decode" => refuses(|request| request.contains(&encoded(VALUE))),
    ],
];
