//! Mutants of the checks in `mcp_client/http_sse/mod.rs`.

use crate::fault::Answer;
use crate::link::events::Event;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "SSE-03" => [
        "posts to the URL of the stream" => faults::each_verb("POST", |request| request.target = "/sse".into()),
        "leaves out the query" => faults::each_verb("POST", |request| {
            request.target = request.target.split('?').next().unwrap_or_default().to_owned();
        }),
    ],
    "SSE-06" => [
        "waits for the response in the answer to its POST" => faults::misreads(|answer| Some(answer).filter(|answer| {
            !matches!(answer, Answer::Event(event) if event.data.contains("\"result\""))
        })),
    ],
    "SSE-07" => [
        "skips an event without a type" => faults::misreads(|answer| {
            Some(answer).filter(|answer| !matches!(answer, Answer::Event(event) if event.name.is_none() && event.has_data))
        }),
        "reads the first data line alone" => faults::misreads(|answer| Some(match answer {
            Answer::Event(event) => {
                let data = event.data.lines().next().unwrap_or_default().to_owned();
                Answer::Event(Event { data, ..event })
            }
            other => other,
        })),
        "reads an event of an unknown type as a message" => faults::adds_request(|request| {
            let mut post = request.clone();
            post.body = json!({"jsonrpc": "2.0", "id": "unknown-type", "result": {}}).to_string().into_bytes();
            request.calls("tools/list").then_some(post)
        }),
    ],
];
