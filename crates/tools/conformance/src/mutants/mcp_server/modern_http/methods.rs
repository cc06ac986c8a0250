//! Mutants of the checks in `mcp_server/modern_http/methods.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-26" => [
        "answers with a body" => faults::in_response_to(
            |request| request.contains("notifications/"),
            |incoming| match incoming {
                crate::fault::Incoming::Body { exchange, .. } => {
                    vec![crate::fault::Incoming::Body { exchange, bytes: b"{}".to_vec() }]
                }
                other => vec![other],
            },
        ),
    ],
];
