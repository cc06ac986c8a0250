//! Mutants of the checks in `mcp_client/modern_http/versions.rs`.

use crate::fault::Answer;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-11" => [
        "does not read the body of status 404" => faults::misreads(|answer| Some(match answer {
            Answer::Body(body) if body.windows(8).any(|part| part == b"penguins") => Answer::Body(Vec::new()),
            other => other,
        })),
    ],
    "ST-37" => [
        "begins a session after each status 400" => faults::adds_request(|request| {
            let mut post = request.clone();
            let params = json!({"protocolVersion": "2025-11-25"});
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
            post.body = message.to_string().into_bytes();
            request.headers.iter().any(|(name, _)| name == "mcp-method").then_some(post)
        }),
    ],
    "ST-38" => [
        "sends nothing to the endpoint" => faults::loses_requests(|request| request.target.starts_with("/messages")),
    ],
    "ST-41" => [
        "probes before each call" => faults::adds_request(|request| {
            let mut probe = request.clone();
            let message = json!({"jsonrpc": "2.0", "id": "probe", "method": "server/discover", "params": {}});
            probe.body = message.to_string().into_bytes();
            request.calls("tools/call").then_some(probe)
        }),
    ],
    "ST-42" => [
        "tries again and again" => faults::each_request(|request| vec![request; 9]),
    ],
];
