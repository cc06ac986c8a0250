//! What a conversation consists of, for audits: requests of the suite with their responses, and calls of the server.

use serde_json::Value;

use super::Server;
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

/// Whether a conversation was in the revision of the run alone: some checks ask for another one.
pub(super) fn is_in_revision(server: &Server, trace: &Trace) -> bool {
    let revision = server.revision();
    let mut versions = exchanges(trace).into_iter().filter(|exchange| exchange.method == "initialize");
    let is_same = |exchange: &Exchange| {
        let version = exchange.response.pointer("/result/protocolVersion");
        version.is_none_or(|version| revision.has_sessions() && version == revision.as_str())
    };
    versions.all(|exchange| is_same(&exchange))
}
