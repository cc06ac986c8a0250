//! Checks of servers: `_meta`, and the codes of errors.

use serde_json::{Value, json};

use super::super::Server;
use super::super::exchanges::is_in_revision;
use crate::check::{ANY, Check, audit};
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    audit!("RPC-18", meta_keys_fit, ANY, [
        "ends a key with a hyphen" => faults::result_of("tools/list", |result| result["_meta"] = json!({"com.example/took-": 1})),
        "begins a label with a digit" => faults::result_of("tools/list", |result| result["_meta"] = json!({"com.1example/took": 1})),
        "uses a prefix of the protocol for its own key" => faults::result_of("tools/list", |result| {
            result["_meta"] = json!({"io.modelcontextprotocol/took": 1});
        }),
    ]),
    audit!("RPC-19", trace_context_fits, ANY, [
        "writes a trace parent of its own form" => faults::result_of("tools/list", |result| result["_meta"] = json!({"traceparent": "trace-1"})),
        "writes a trace parent of zeros" => faults::result_of("tools/list", |result| {
            result["_meta"] = json!({"traceparent": "00-00000000000000000000000000000000-0000000000000000-00"});
        }),
        "writes baggage without values" => faults::result_of("tools/list", |result| result["_meta"] = json!({"baggage": "a, b"})),
    ]),
    audit!("RPC-31", only_defined_codes, ANY, [
        "uses a code that the protocol reserves" => recoded(-32050),
        "uses the code of an older revision" => recoded(-32002),
    ]),
    audit!("RPC-32", no_codes_of_its_own, ANY, [
        "has codes of its own" => recoded(-32001),
    ]),
];

fn recoded(code: i64) -> Box<dyn crate::fault::Fault> {
    faults::each_response(move |message| {
        if message.get("error").is_some() {
            message["error"]["code"] = json!(code);
        }
    })
}

/// The keys that the specification defines under its own prefix.
const DEFINED: &[&str] = &[
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/logLevel",
    "io.modelcontextprotocol/model-immediate-response",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/related-task",
    "io.modelcontextprotocol/serverInfo",
    "io.modelcontextprotocol/subscriptionId",
];

/// The `_meta` of a message's params or result, and of the items of its lists.
fn metas(message: &Value) -> Vec<&Value> {
    let bodies = ["params", "result"].into_iter().filter_map(|name| message.get(name));
    let items = bodies.clone().filter_map(Value::as_object).flat_map(|members| members.values());
    let items = items.filter_map(Value::as_array).flatten();
    bodies.chain(items).filter_map(|holder| holder.get("_meta")).collect()
}

fn meta_keys_fit(_: &Server, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        for meta in metas(&message) {
            ensure!(meta.is_object(), "an object as `_meta`", "`{message}`");
            for key in meta.as_object().into_iter().flatten().map(|(key, _)| key) {
                ensure!(
                    is_key(key),
                    "a key of `_meta` of the form PREFIX/NAME or NAME",
                    "the key `{key}` in `{message}`"
                );
                ensure!(
                    !is_reserved(key) || DEFINED.contains(&key.as_str()),
                    "a prefix of MCP only on a key that the specification defines",
                    "the key `{key}` in `{message}`"
                );
            }
        }
    }
    Ok(())
}

/// Whether a key is an optional prefix of labels between dots, a slash, and a name.
fn is_key(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let is_end = |char: Option<char>| char.is_some_and(|char| char.is_ascii_alphanumeric());
    let is_label = |label: &str| {
        label.starts_with(|char: char| char.is_ascii_alphabetic())
            && is_end(label.chars().last())
            && label.chars().all(|char| char.is_ascii_alphanumeric() || char == '-')
    };
    let is_name = name.is_empty()
        || is_end(name.chars().next())
            && is_end(name.chars().last())
            && name.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char));
    prefix.is_none_or(|prefix| prefix.split('.').all(is_label)) && is_name
}

/// Whether the second label of a key's prefix is one of the protocol's.
fn is_reserved(key: &str) -> bool {
    let prefix = key.split_once('/').map_or("", |(prefix, _)| prefix);
    prefix.split('.').nth(1).is_some_and(|label| label == "modelcontextprotocol" || label == "mcp")
}

fn trace_context_fits(_: &Server, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        for meta in metas(&message) {
            for (key, is_valid) in CONTEXT {
                if let Some(value) = meta.get(*key) {
                    let fits = value.as_str().is_some_and(is_valid);
                    ensure!(fits, format!("a `{key}` of the form that W3C defines"), "`{message}`");
                }
            }
        }
    }
    Ok(())
}

/// A key of a trace's context, and whether a text has its form.
type Format = (&'static str, fn(&str) -> bool);

const CONTEXT: &[Format] = &[("traceparent", is_traceparent), ("tracestate", is_list), ("baggage", is_list)];

/// Version, trace id, parent id and flags in lower-case hexadecimal digits.
fn is_traceparent(value: &str) -> bool {
    let parts: Vec<&str> = value.split('-').collect();
    let is_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let is_zero = |part: &str| part.bytes().all(|byte| byte == b'0');
    lengths.starts_with(&[2, 32, 16, 2])
        && parts.iter().take(4).all(|part| is_hex(part))
        && parts[0] != "ff"
        && (parts[0] != "00" || parts.len() == 4)
        && !is_zero(parts[1])
        && !is_zero(parts[2])
}

/// `key=value` between commas; an element of `tracestate` may be empty.
fn is_list(value: &str) -> bool {
    value.split(',').map(str::trim).filter(|element| !element.is_empty()).all(|element| {
        let key = element.split_once('=').map_or("", |(key, _)| key.trim());
        !key.is_empty() && element.is_ascii()
    })
}

/// The codes of all errors of the server, with their messages.
fn codes(trace: &Trace) -> Vec<(i64, Value)> {
    let messages = trace.messages(Sender::Subject).into_iter();
    messages.filter_map(|message| Some((message.pointer("/error/code")?.as_i64()?, message))).collect()
}

fn only_defined_codes(server: &Server, trace: &Trace) -> Outcome {
    if !is_in_revision(server, trace) {
        return Ok(());
    }
    for (code, message) in codes(trace) {
        let is_reserved = (-32099..=-32020).contains(&code) && !(-32022..=-32020).contains(&code);
        ensure!(!is_reserved, "no undefined code from -32020 to -32099", "`{message}`");
        ensure!(code != -32002, "no code of an older revision", "`{message}`");
    }
    Ok(())
}

fn no_codes_of_its_own(server: &Server, trace: &Trace) -> Outcome {
    if !is_in_revision(server, trace) {
        return Ok(());
    }
    for (code, message) in codes(trace) {
        ensure!(!(-32019..=-32000).contains(&code), "no code from -32000 to -32019", "`{message}`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_the_grammar_has_them() {
        for key in ["progressToken", "com.example/a.b-c_d", "a1-b.c/", "x/1"] {
            assert!(is_key(key), "{key}");
        }
        for key in ["-a", "a-", "com..example/a", "1com/a", "com-/a", "/a", "a/b/c", "com.example/ü"] {
            assert!(!is_key(key), "{key}");
        }
        assert!(is_reserved("io.modelcontextprotocol/a") && is_reserved("dev.mcp.x/a"));
        assert!(!is_reserved("com.example.mcp/a") && !is_reserved("mcp"));
    }

    #[test]
    fn trace_contexts_are_read_as_w3c_has_them() {
        assert!(is_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
        assert!(!is_traceparent("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
        assert!(!is_traceparent("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
        assert!(is_list("a=1,b=2;c=d") && !is_list("a"));
    }
}
