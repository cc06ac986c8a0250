//! Mutants of the checks in `mcp_client/http_sse/fallback.rs`.

use crate::fault::ClientRequest;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "SSE-17" => [
        "sends nothing to the endpoint" => faults::loses_requests(|request| request.target.starts_with("/messages")),
        "sends GET to another URL" => faults::each_verb("GET", |request| request.target = "/sse".into()),
    ],
    "SSE-18" => [
        "tries the older transport after every failure" => faults::adds_request(|request| {
            (request.method == "POST").then(|| listening(request))
        }),
    ],
];

/// The GET of a client that tries HTTP+SSE.
pub(crate) fn listening(request: &ClientRequest) -> ClientRequest {
    let mut get = request.clone();
    "GET".clone_into(&mut get.method);
    get.body.clear();
    get.set("accept", "text/event-stream");
    get
}
