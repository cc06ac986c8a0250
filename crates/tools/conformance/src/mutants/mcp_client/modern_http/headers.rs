//! Mutants of the checks in `mcp_client/modern_http/headers.rs`.

use crate::fault::Answer;
use crate::mcp_client::modern_http::headers::UNSAFE_INTEGER;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-13" => [
        "does not encode names" => faults::each_verb("POST", |request| {
            if request.header("mcp-name").is_some_and(|name| name.starts_with("=?")) {
                request.set("mcp-name", "\u{fffd}\u{fffd}");
            }
        }),
    ],
    "ST-16" => [
        "knows header names in lower case only" => faults::misreads(|answer| Some(match answer {
            Answer::Head { status, mut headers } => {
                headers.retain(|(name, _)| name != "content-type");
                Answer::Head { status, headers }
            }
            other => other,
        })),
    ],
    "ST-17" => [
        "sends no argument headers" => faults::each_verb("POST", |request| {
            request.headers.retain(|(name, _)| !name.starts_with("mcp-param-"));
        }),
    ],
    "ST-23" => [
        "copies every integer" => faults::each_verb("POST", |request| {
            if request.calls("tools/call") {
                request.set("mcp-param-priority", &UNSAFE_INTEGER.to_string());
            }
        }),
    ],
];
