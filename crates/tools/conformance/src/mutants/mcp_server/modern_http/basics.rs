//! Mutants of the checks in `mcp_server/modern_http/mod.rs`.

use crate::fault::{Fault, Incoming};
use crate::mcp_server::modern_http::{HEADER_MISMATCH, ID};
use crate::mutants::faults;
use serde_json::{Value, json};

/// A fault: the server does what such requests ask, although it has to refuse them.
pub(crate) fn accepts(accept: impl FnMut(&str) -> bool + Send + 'static) -> Box<dyn Fault> {
    answers(accept, 200, json!({"result": {"resultType": "complete", "content": [], "tools": []}}))
}

/// A fault: the server refuses such requests, although they are right.
pub(crate) fn refuses(accept: impl FnMut(&str) -> bool + Send + 'static) -> Box<dyn Fault> {
    answers(accept, 400, json!({"error": {"code": HEADER_MISMATCH, "message": "refused"}}))
}

pub(crate) fn answers(
    accept: impl FnMut(&str) -> bool + Send + 'static,
    status: u16,
    body: Value,
) -> Box<dyn Fault> {
    let mut message = body;
    message["jsonrpc"] = json!("2.0");
    message["id"] = json!(ID);
    faults::in_response_to(accept, move |incoming| match incoming {
        Incoming::Head(mut head) => {
            head.status = status;
            vec![Incoming::Head(head)]
        }
        Incoming::Body { exchange, .. } => {
            vec![Incoming::Body { exchange, bytes: message.to_string().into_bytes() }]
        }
        Incoming::Event { exchange, event } => {
            let data = message.to_string();
            vec![Incoming::Event { exchange, event: crate::link::events::Event { data, ..event } }]
        }
        other => vec![other],
    })
}
