//! Mutants of the checks in `mcp_client/streamable_http/mod.rs`.

use crate::fault::Answer;
use crate::link::events::Event;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HTP-02" => [
        "sends two messages in one POST" => faults::each_verb("POST", |request| {
            let again = request.body.clone();
            request.body.push(b'\n');
            request.body.extend(again);
        }),
    ],
    "HTP-08" => [
        "sends a batch" => faults::each_verb("POST", |request| {
            request.body = [b"[", request.body.as_slice(), b"]"].concat();
        }),
    ],
    "HTP-10" => [
        "cannot read event streams" => faults::misreads(|answer| {
            Some(answer).filter(|answer| !matches!(answer, Answer::Event(_)))
        }),
        "cannot read JSON" => faults::misreads(|answer| match answer {
            Answer::Body(_) => Some(Answer::Body(Vec::new())),
            other => Some(other),
        }),
        "reads the first data line alone" => faults::misreads(|answer| Some(match answer {
            Answer::Event(event) => {
                let data = event.data.lines().next().unwrap_or_default().to_owned();
                Answer::Event(Event { data, ..event })
            }
            other => other,
        })),
    ],
    "HTP-23" => [
        "takes the message of one stream for that of another" => faults::each_outcome(|outcome| {
            if outcome.pointer("/result/content/0/text") == Some(&json!("answer one")) {
                *outcome = json!({"result": {"content": [{"type": "text", "text": "answer two"}]}});
            }
        }),
    ],
];
