//! What clients write into `_meta`.

use serde_json::{Value, json};

use crate::check::{ANY, Check, audit};
use crate::faults;
use crate::mcp_client::McpClient;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    audit!("RPC-18", meta_keys_follow_the_grammar, ANY, [
        "writes a key that ends with a hyphen" => faults::each_call("tools/list", |m| m["params"]["_meta"]["key-"] = json!(1)),
        "uses a prefix without a letter" => faults::each_call("tools/list", |m| m["params"]["_meta"]["1.2/key"] = json!(1)),
        "invents a key with the prefix of MCP" => faults::each_call("tools/list", |m| {
            m["params"]["_meta"]["io.modelcontextprotocol/invented"] = json!(1);
        }),
    ]),
    audit!("RPC-19", trace_context_has_the_formats_of_w3c, ANY, [
        "writes a word as traceparent" => faults::each_call("tools/list", |m| {
            m["params"]["_meta"]["traceparent"] = json!("parent");
        }),
        "writes a word as tracestate" => faults::each_call("tools/list", |m| {
            m["params"]["_meta"]["tracestate"] = json!("state");
        }),
        "writes a word as baggage" => faults::each_call("tools/list", |m| {
            m["params"]["_meta"]["baggage"] = json!("bag");
        }),
    ]),
];

/// The keys that the specification defines under its own prefix.
const DEFINED: &[&str] = &[
    "protocolVersion",
    "clientInfo",
    "clientCapabilities",
    "serverInfo",
    "logLevel",
    "subscriptionId",
    "related-task",
    "model-immediate-response",
];

fn metas(trace: &Trace) -> Vec<Value> {
    let messages = trace.messages(Sender::Subject);
    let places = ["/params/_meta", "/result/_meta"];
    let metas = messages.iter().flat_map(|message| places.iter().filter_map(|place| message.pointer(place)));
    metas.cloned().collect()
}

fn meta_keys_follow_the_grammar(_: &McpClient, trace: &Trace) -> Outcome {
    for meta in metas(trace) {
        for key in meta.as_object().into_iter().flat_map(|meta| meta.keys()) {
            let (prefix, name) =
                key.rsplit_once('/').map_or((None, key.as_str()), |(prefix, name)| (Some(prefix), name));
            ensure!(
                is_name(name),
                "a name that begins and ends with a letter or a digit",
                "the key `{key}` in `{meta}`"
            );
            let Some(prefix) = prefix else {
                continue;
            };
            ensure!(
                prefix.split('.').all(is_label),
                "labels that begin with a letter and end with a letter or a digit",
                "the key `{key}` in `{meta}`"
            );
            let is_defined = prefix == "io.modelcontextprotocol" && DEFINED.contains(&name);
            ensure!(
                !is_reserved(prefix) || is_defined,
                "no keys under the prefixes of MCP but those that it defines",
                "the key `{key}` in `{meta}`"
            );
        }
    }
    Ok(())
}

fn is_label(label: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
    label.starts_with(|c: char| c.is_ascii_alphabetic())
        && label.ends_with(|c: char| c.is_ascii_alphanumeric())
        && label.chars().all(inner)
}

fn is_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let ends = |c: char| c.is_ascii_alphanumeric();
    name.is_empty() || name.starts_with(ends) && name.ends_with(ends) && name.chars().all(inner)
}

/// Whether a prefix is one of MCP: its second label is `modelcontextprotocol` or `mcp`.
fn is_reserved(prefix: &str) -> bool {
    matches!(prefix.split('.').nth(1), Some("modelcontextprotocol" | "mcp"))
}

fn trace_context_has_the_formats_of_w3c(_: &McpClient, trace: &Trace) -> Outcome {
    let mut any = false;
    for meta in metas(trace) {
        for (key, is_valid) in [
            ("traceparent", is_traceparent as fn(&str) -> bool),
            ("tracestate", is_list),
            ("baggage", is_list),
        ] {
            let Some(value) = meta.get(key) else {
                continue;
            };
            any = true;
            ensure!(
                value.as_str().is_some_and(is_valid),
                format!("`{key}` in the format of W3C"),
                "`{value}`"
            );
        }
    }
    if any { Ok(()) } else { Err(Stop::not_applicable("the client sends no trace context")) }
}

/// `00-` and 32, 16 and 2 digits of base 16.
fn is_traceparent(value: &str) -> bool {
    let parts: Vec<&str> = value.split('-').collect();
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let lengths = [2, 32, 16, 2];
    parts.len() >= lengths.len()
        && parts.iter().zip(lengths).all(|(part, length)| part.len() == length && is_hex(part))
        && parts.iter().skip(1).take(2).all(|id| id.bytes().any(|byte| byte != b'0'))
}

/// Members with an equals sign, with commas between them.
fn is_list(value: &str) -> bool {
    value.split(',').all(|member| member.trim().is_empty() || member.contains('='))
}
