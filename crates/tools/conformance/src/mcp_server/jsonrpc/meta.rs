//! Checks of servers: `_meta`, and the codes of errors.

use serde_json::{Value, json};

use super::super::Server;
use super::super::exchanges::is_in_revision;
use crate::check::{ANY, Check, audit};
use crate::fault::Fault;
use crate::faults;
use crate::mcp_messages::{self, sent};
use crate::trace::Trace;
use crate::verdict::{Outcome, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    audit!("RPC-18", meta_keys_fit, ANY, [
        "ends a key with a hyphen" => adds_meta("com.example/took-", "1"),
        "begins a label with a digit" => adds_meta("com.1example/took", "1"),
    ]),
    audit!("RPC-18b", meta_keys_keep_to_their_characters, ANY, [
        "writes a key with a colon" => adds_meta("took:ms", "1"),
        "uses a prefix of the protocol for its own key" => adds_meta("com.mcp.tools/took", "1"),
    ]),
    audit!("RPC-19", trace_context_fits, ANY, [
        "writes a trace parent of its own form" => adds_meta("traceparent", "trace-1"),
        "writes a trace parent of zeros" => adds_meta("traceparent", "00-00000000000000000000000000000000-0000000000000000-00"),
        "writes baggage without values" => adds_meta("baggage", "a, b"),
    ]),
    audit!("RPC-31", only_defined_codes, ANY, [
        "uses a code that the protocol reserves" => recoded(-32050),
        "uses a code of older revisions" => recoded(-32002),
        "uses a code of one older revision" => recoded(-32042),
    ]),
];

fn adds_meta(key: &'static str, value: &'static str) -> Box<dyn Fault> {
    faults::result_of("tools/list", move |result| result["_meta"] = json!({ key: value }))
}

fn recoded(code: i64) -> Box<dyn Fault> {
    faults::each_response(move |message| {
        if message.get("error").is_some() {
            message["error"]["code"] = json!(code);
        }
    })
}

fn meta_keys_fit(server: &Server, trace: &Trace) -> Outcome {
    in_revision(server, trace, mcp_messages::meta_keys_follow_the_grammar)
}

fn meta_keys_keep_to_their_characters(server: &Server, trace: &Trace) -> Outcome {
    in_revision(server, trace, mcp_messages::meta_keys_keep_to_their_characters)
}

fn trace_context_fits(server: &Server, trace: &Trace) -> Outcome {
    in_revision(server, trace, mcp_messages::trace_context_has_the_formats_of_w3c)
}

fn in_revision(server: &Server, trace: &Trace, rule: fn(&Trace) -> Outcome) -> Outcome {
    if is_in_revision(server, trace) { rule(trace) } else { Ok(()) }
}

fn only_defined_codes(server: &Server, trace: &Trace) -> Outcome {
    in_revision(server, trace, codes_are_defined)
}

fn codes_are_defined(trace: &Trace) -> Outcome {
    for message in sent(trace) {
        let code = message.pointer("/error/code").and_then(Value::as_i64).unwrap_or_default();
        let is_reserved = (-32099..=-32020).contains(&code) && !(-32022..=-32020).contains(&code);
        ensure!(
            !is_reserved && code != -32002,
            "no undefined code from -32099 to -32020, and not -32002",
            "`{message}`"
        );
    }
    Ok(())
}
