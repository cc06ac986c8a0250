//! Mutants of the checks in `mcp_client/modern_http/streams.rs`.

use crate::fault::Answer;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "ST-31" => [
        "stops reading at a comment" => faults::misreads({
            let mut commented = false;
            move |answer| {
                commented |= matches!(&answer, Answer::Event(event) if !event.comments.is_empty());
                Some(answer).filter(|answer| !commented || !matches!(answer, Answer::Event(_)))
            }
        }),
    ],
    "ST-33" => [
        "sends a cancelled notification" => faults::adds_request(|request| {
            let id = request.message().unwrap_or_default()["id"].clone();
            let params = json!({"requestId": id});
            let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            let mut post = request.clone();
            post.body = message.to_string().into_bytes();
            request.calls("tools/call").then_some(post)
        }),
    ],
];
