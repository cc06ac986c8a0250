//! The exchanges of a conversation, for audits: requests of the suite with their responses, and calls of the server.

use serde_json::Value;

use super::Server;
use crate::requirements::revision::Revision;
use crate::trace::{Part, Sender, Trace, message_of};

/// A request of the suite and its response.
pub(super) struct Exchange {
    pub(super) method: String,
    pub(super) response: Value,
}

/// The messages of both sides, in order; the members of a batch one by one.
pub(super) fn messages(trace: &Trace) -> Vec<(Sender, Value)> {
    let mut messages = Vec::new();
    for event in
        trace.events().iter().filter(|event| matches!(event.what, Part::Line | Part::Body | Part::Event))
    {
        match message_of(event) {
            Some(Value::Array(batch)) => {
                messages.extend(batch.into_iter().map(|message| (event.from, message)))
            }
            Some(message) => messages.push((event.from, message)),
            None => {}
        }
    }
    messages
}

/// The requests with their responses. Connections may use the same ids; where that leaves a doubt there is none.
pub(super) fn exchanges(trace: &Trace) -> Vec<Exchange> {
    let mut open: Vec<(Value, String)> = Vec::new();
    let mut exchanges = Vec::new();
    for (from, message) in messages(trace) {
        let Some(id) = message.get("id").cloned() else { continue };
        match (from, message["method"].as_str()) {
            (Sender::Suite, Some(method)) => open.push((id, method.to_owned())),
            (Sender::Subject, None) => {
                let of_id: Vec<usize> = (0..open.len()).filter(|at| open[*at].0 == id).collect();
                let Some(at) = of_id.first() else { continue };
                let (_, method) = open.remove(*at);
                if of_id.len() == 1 {
                    exchanges.push(Exchange { method, response: message });
                }
            }
            _ => {}
        }
    }
    exchanges
}

/// Whether a conversation was in the revision of the run alone: some checks ask for another one. An `initialize` whose response is
/// missing or in doubt may have begun any revision.
pub(super) fn is_in_revision(server: &Server, trace: &Trace) -> bool {
    is_in(server.revision(), trace)
}

fn is_in(revision: Revision, trace: &Trace) -> bool {
    let is_initialize = |message: &Value| message["method"] == "initialize";
    let messages = messages(trace);
    let asked = messages.iter().filter(|(from, message)| *from == Sender::Suite && is_initialize(message));
    let mut versions = exchanges(trace);
    versions.retain(|exchange| exchange.method == "initialize");
    let is_same = |exchange: &Exchange| {
        let version = exchange.response.pointer("/result/protocolVersion");
        version.is_none_or(|version| revision.is_legacy() && version == revision.as_str())
    };
    versions.len() == asked.count() && versions.iter().all(is_same)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn trace(messages: &[(Sender, Value)]) -> Trace {
        let trace = Trace::new();
        for (from, message) in messages {
            trace.add(*from, Part::Line, message.to_string().as_bytes());
        }
        trace
    }

    #[test]
    fn an_initialize_whose_response_is_in_doubt_may_begin_any_revision() {
        let begun = [
            (Sender::Suite, json!({"id": 1, "method": "initialize"})),
            (Sender::Subject, json!({"id": 1, "result": {"protocolVersion": "2025-11-25"}})),
        ];
        assert!(is_in(Revision::Mcp20251125, &trace(&begun)));
        assert!(!is_in(Revision::Mcp20260728, &trace(&begun)));
        // The first request is refused without its id, and the second one has the same.
        let mut doubtful = vec![
            (Sender::Suite, json!({"id": 1, "method": "server/discover"})),
            (Sender::Subject, json!({"id": null, "error": {"code": -32600, "message": "no session"}})),
        ];
        doubtful.extend(begun);
        assert!(!is_in(Revision::Mcp20260728, &trace(&doubtful)));
        assert!(is_in(Revision::Mcp20260728, &trace(&doubtful[..2])));
    }
}
