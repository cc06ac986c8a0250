//! Mutants of the checks in `mcp_server/modern_http/headers.rs`.

use crate::mcp_server::modern_http::headers::{OTHER, encoded};
use crate::mutants::mcp_server::modern_http::basics::accepts;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-15" => [
        "does not look at an encoded name" => accepts(|request| request.contains(&encoded(OTHER))),
    ],
];
