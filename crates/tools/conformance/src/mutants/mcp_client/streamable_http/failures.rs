//! Mutants of the checks in `mcp_client/streamable_http/failures.rs`.

use crate::fault::Answer;
use crate::mutants::faults;
use crate::mutants::mcp_client::http_sse::fallback::listening;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HTP-63" => [
        "follows a redirect with its session id" => faults::misreads(|answer| Some(match answer {
            Answer::Head { status: 307, mut headers } => {
                headers.retain(|(name, _)| name != "location");
                headers.push(("location".into(), "elsewhere".into()));
                Answer::Head { status: 307, headers }
            }
            other => other,
        })),
    ],
    "HTP-64" => [
        "tries the older transport after status 401" => faults::adds_request(|request| {
            (request.method == "POST").then(|| listening(request))
        }),
    ],
];
