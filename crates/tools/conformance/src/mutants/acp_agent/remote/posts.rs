//! Mutants of the checks in `acp_agent/remote/posts.rs`.

use crate::acp_agent::remote::posts::POSTED;
use crate::fault::{Fault, Incoming};
use crate::mutants::acp_agent::remote::basics::posts;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HT-02" => [
        "refuses the version" => faults::answer_status(is_http2, 505),
        "takes the pseudo headers of HTTP/2 for headers, and fails" => faults::answer_status(is_http2, 500),
    ],
    "HT-05" => [
        "answers in the response to the POST" => answers_at_once(),
    ],
    "HT-10" => [
        "takes them" => faults::answer_status(posts_a_batch, 202),
        "calls them a bad request" => faults::answer_status(posts_a_batch, 400),
    ],
];

pub(crate) fn is_http2(request: &str) -> bool {
    request.lines().next().is_some_and(|line| line.ends_with("HTTP/2"))
}

pub(crate) fn posts_a_batch(request: &str) -> bool {
    request.starts_with("POST ") && request.split("\n\n").nth(1).is_some_and(|body| body.starts_with('['))
}

pub(crate) fn answers_at_once() -> Box<dyn Fault> {
    faults::in_response_to(
        |request| posts(request, "_conformance/unknown"),
        |incoming| match incoming {
            Incoming::Body { exchange, .. } => {
                let error = json!({"code": -32601, "message": "method not found"});
                let answer = json!({"jsonrpc": "2.0", "id": POSTED, "error": error});
                vec![Incoming::Body { exchange, bytes: answer.to_string().into_bytes() }]
            }
            other => vec![other],
        },
    )
}
