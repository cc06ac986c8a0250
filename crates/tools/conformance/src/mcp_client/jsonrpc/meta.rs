//! What clients write into `_meta`.

use serde_json::json;

use crate::check::{ANY, Check, audit};
use crate::fault::Fault;
use crate::faults;
use crate::mcp_client::McpClient;
use crate::mcp_messages;
use crate::trace::Trace;
use crate::verdict::Outcome;

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    audit!("RPC-18", meta_keys_follow_the_grammar, ANY, [
        "writes a key that ends with a hyphen" => adds_meta("key-", "1"),
        "uses a prefix without a letter" => adds_meta("1.2/key", "1"),
    ]),
    audit!("RPC-18b", meta_keys_keep_to_their_characters, ANY, [
        "writes a key with a colon" => adds_meta("my:key", "1"),
        "uses a prefix of MCP for its own key" => adds_meta("dev.mcp/key", "1"),
    ]),
    audit!("RPC-19", trace_context_has_the_formats_of_w3c, ANY, [
        "writes a word as traceparent" => adds_meta("traceparent", "parent"),
        "writes a word as tracestate" => adds_meta("tracestate", "state"),
        "writes a word as baggage" => adds_meta("baggage", "bag"),
    ]),
];

fn adds_meta(key: &'static str, value: &'static str) -> Box<dyn Fault> {
    faults::each_call("tools/list", move |m| m["params"]["_meta"][key] = json!(value))
}

fn meta_keys_follow_the_grammar(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::meta_keys_follow_the_grammar(trace)
}

fn meta_keys_keep_to_their_characters(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::meta_keys_keep_to_their_characters(trace)
}

fn trace_context_has_the_formats_of_w3c(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::trace_context_has_the_formats_of_w3c(trace)
}
