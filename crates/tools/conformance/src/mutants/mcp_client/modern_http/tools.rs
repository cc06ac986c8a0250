//! Mutants of the checks in `mcp_client/modern_http/tools.rs`.

use crate::fault::Answer;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-22" => [
        "logs nothing" => faults::both(
            faults::misreads(|answer| Some(match answer {
                Answer::Body(body) => Answer::Body(
                    String::from_utf8_lossy(&body).replace("x-mcp-header", "x-unknown").into_bytes(),
                ),
                other => other,
            })),
            faults::each_outcome(|outcome| outcome["result"] = json!([{"name": "fine"}])),
        ),
    ],
    "ST-24" => [
        "does not retry" => {
            let mut calls = 0;
            faults::loses_requests(move |request| {
                calls += u32::from(request.calls("tools/call"));
                calls > 1
            })
        },
        "fetches no list" => {
            let mut called = false;
            faults::loses_requests(move |request| {
                called |= request.calls("tools/call");
                called && request.calls("tools/list")
            })
        },
    ],
];
