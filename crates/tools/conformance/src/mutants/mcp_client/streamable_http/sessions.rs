//! Mutants of the checks in `mcp_client/streamable_http/sessions.rs`.

use crate::mcp_client::host::SESSION;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HTP-40" => [
        "makes up a session id" => faults::each_request(|mut request| {
            if !request.calls("initialize") {
                request.set("mcp-session-id", "made-up");
            }
            vec![request]
        }),
    ],
    "HTP-44" => [
        "begins no new session" => {
            let mut sessions = 0;
            faults::loses_requests(move |request| {
                sessions += u32::from(request.calls("initialize"));
                sessions > 1
            })
        },
        "sends the old session id with initialize" => faults::each_verb("POST", |request| {
            if request.calls("initialize") {
                request.set("mcp-session-id", SESSION);
            }
        }),
    ],
    "HTP-46" => [
        "sends DELETE again and again" => faults::each_request(|request| {
            let count = if request.method == "DELETE" { 4 } else { 1 };
            vec![request; count]
        }),
    ],
    "HTP-49" => [
        "sends the version that it asked for" => faults::each_request(|mut request| {
            if request.header("mcp-protocol-version").is_some() {
                request.set("mcp-protocol-version", "2025-11-25");
            }
            vec![request]
        }),
    ],
];
