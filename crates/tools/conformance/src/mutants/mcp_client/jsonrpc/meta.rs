//! Mutants of the checks in `mcp_client/jsonrpc/meta.rs`.

use crate::fault::Fault;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-18" => [
        "writes a key that ends with a hyphen" => adds_meta("key-", "1"),
        "uses a prefix without a letter" => adds_meta("1.2/key", "1"),
    ],
    "RPC-18b" => [
        "writes a key with a colon" => adds_meta("my:key", "1"),
        "uses a prefix of MCP for its own key" => adds_meta("dev.mcp/key", "1"),
    ],
    "RPC-19" => [
        "writes a word as traceparent" => adds_meta("traceparent", "parent"),
        "writes a word as tracestate" => adds_meta("tracestate", "state"),
        "writes a word as baggage" => adds_meta("baggage", "bag"),
    ],
];

pub(crate) fn adds_meta(key: &'static str, value: &'static str) -> Box<dyn Fault> {
    faults::each_call("tools/list", move |m| m["params"]["_meta"][key] = json!(value))
}
