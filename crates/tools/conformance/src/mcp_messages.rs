//! Rules of MCP for every message, which hold for servers and clients alike.

use serde_json::{Value, json};

use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

/// Ids that a receiver may mistake: for no id, for a number or for a float.
pub(crate) fn unusual_ids() -> [Value; 6] {
    [json!(0), json!(-1), json!("7"), json!(7), json!(""), json!(9_007_199_254_740_991_i64)]
}

/// Whether a message is a result or an error, rather than a request, a notification or a line of text.
pub(crate) fn is_answer(message: &Value) -> bool {
    message.get("method").is_none() && (message.get("result").is_some() || message.get("error").is_some())
}

/// The JSON-RPC messages of the subject. A body of HTTP such as `{"detail":"…"}` is JSON of another kind.
pub(crate) fn sent(trace: &Trace) -> Vec<Value> {
    let mut messages = trace.messages(Sender::Subject);
    messages.retain(|message| {
        let has_outcome = message.get("result").is_some() || message["error"].is_object();
        message.get("jsonrpc").is_some()
            || message.get("method").is_some()
            || message.get("id").is_some() && has_outcome
    });
    messages
}

/// The messages of one kind. An audit of them has nothing to look at where there are none.
fn some(trace: &Trace, kind: &str, is_one: fn(&Value) -> bool) -> Outcome<Vec<Value>> {
    let messages: Vec<Value> = sent(trace).into_iter().filter(is_one).collect();
    if messages.is_empty() {
        return Err(Stop::not_applicable(format!("it sent no {kind}")));
    }
    Ok(messages)
}

/// Whether the method is that of a notification, also where an id stands beside it.
pub(crate) fn is_notification(message: &Value) -> bool {
    message["method"].as_str().is_some_and(|method| method.starts_with("notifications/"))
}

/// `1.0` is an integer of JSON Schema as well.
fn is_integer(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

pub(crate) fn have_the_version(trace: &Trace) -> Outcome {
    for message in sent(trace) {
        ensure!(message["jsonrpc"] == "2.0", "`\"jsonrpc\":\"2.0\"` in every message", "`{message}`");
    }
    Ok(())
}

pub(crate) fn ids_are_strings_or_integers(trace: &Trace) -> Outcome {
    let is_request = |message: &Value| {
        message.get("method").is_some() && message.get("id").is_some() && !is_notification(message)
    };
    for message in some(trace, "request", is_request)? {
        let id = &message["id"];
        let fits = id.is_string() || is_integer(id);
        ensure!(fits, "a string or an integer as the id of a request", "`{message}`");
    }
    Ok(())
}

/// No id occurs twice among requests. Those before the last `initialize` belong to no session or to another.
pub(crate) fn ids_occur_once(requests: &[Value]) -> Outcome {
    let begun = requests.iter().rposition(|request| request["method"] == "initialize").unwrap_or(0);
    // A notification with an id breaks another requirement.
    let requests: Vec<&Value> =
        requests[begun..].iter().filter(|request| !is_notification(request)).collect();
    for (at, request) in requests.iter().enumerate() {
        let is_new = requests[..at].iter().all(|earlier| earlier["id"] != request["id"]);
        ensure!(is_new, "an id that its sender has not used before in the session", "`{request}`");
    }
    Ok(())
}

fn responses(trace: &Trace) -> Outcome<Vec<Value>> {
    some(trace, "response", |message| message.get("method").is_none())
}

pub(crate) fn responses_have_a_result_or_an_error(trace: &Trace) -> Outcome {
    for message in responses(trace)? {
        ensure!(
            message.get("result").is_some() != message.get("error").is_some(),
            "either a result or an error in a response",
            "`{message}`"
        );
    }
    Ok(())
}

fn errors(trace: &Trace) -> Outcome<Vec<Value>> {
    some(trace, "error", |message| message.get("method").is_none() && message["error"].is_object())
}

pub(crate) fn errors_have_their_members(trace: &Trace) -> Outcome {
    for message in errors(trace)? {
        let error = &message["error"];
        ensure!(
            error.get("code").is_some() && error["message"].is_string(),
            "a code and a string as the message of an error",
            "`{message}`"
        );
    }
    Ok(())
}

pub(crate) fn codes_are_integers(trace: &Trace) -> Outcome {
    for message in errors(trace)? {
        let is_sound = message["error"].get("code").is_none_or(is_integer);
        ensure!(is_sound, "an integer as the code of an error", "`{message}`");
    }
    Ok(())
}

pub(crate) fn notifications_have_no_id(trace: &Trace) -> Outcome {
    for message in some(trace, "notification", is_notification)? {
        ensure!(message.get("id").is_none(), "a notification without an id", "`{message}`");
    }
    Ok(())
}

/// The `_meta` of a message's params or result, and of the items of its lists.
fn metas(message: &Value) -> Vec<&Value> {
    let bodies = ["params", "result"].into_iter().filter_map(|name| message.get(name));
    let items = bodies.clone().filter_map(Value::as_object).flat_map(|members| members.values());
    let items = items.filter_map(Value::as_array).flatten();
    bodies.chain(items).filter_map(|holder| holder.get("_meta")).collect()
}

/// The keys of each `_meta`, with the message.
fn meta_keys(trace: &Trace) -> Vec<(String, Value)> {
    let mut keys = Vec::new();
    for message in sent(trace) {
        let of_message = metas(&message).into_iter().filter_map(Value::as_object).flatten();
        keys.extend(of_message.map(|(key, _)| (key.clone(), message.clone())));
    }
    keys
}

/// The prefix of a key, if it has one, and its name.
fn parts(key: &str) -> (Option<&str>, &str) {
    key.rsplit_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name))
}

/// Whether labels and the name begin and end as they must. The page does not say which letters a label may have.
fn has_sound_ends(key: &str) -> bool {
    let (prefix, name) = parts(key);
    let is_label =
        |label: &str| label.starts_with(char::is_alphabetic) && label.ends_with(char::is_alphanumeric);
    let is_end = |char: char| char.is_ascii_alphanumeric();
    prefix.is_none_or(|prefix| prefix.split('.').all(is_label))
        && (name.is_empty() || name.starts_with(is_end) && name.ends_with(is_end))
}

fn has_sound_characters(key: &str) -> bool {
    let (prefix, name) = parts(key);
    let fits = |text: &str, others: &str| text.chars().all(|c| c.is_alphanumeric() || others.contains(c));
    prefix.is_none_or(|prefix| fits(prefix, "-.")) && fits(name, "-_.")
}

/// Whether a key has a prefix of MCP under which neither MCP nor an official extension defines keys.
fn has_foreign_prefix(key: &str) -> bool {
    let prefix = parts(key).0.unwrap_or_default();
    let is_reserved = matches!(prefix.split('.').nth(1), Some("modelcontextprotocol" | "mcp"));
    is_reserved && prefix != "io.modelcontextprotocol"
}

pub(crate) fn meta_keys_follow_the_grammar(trace: &Trace) -> Outcome {
    for (key, message) in meta_keys(trace) {
        ensure!(
            has_sound_ends(&key),
            "a key of `_meta` whose labels and name begin and end with a letter or a digit",
            "the key `{key}` in `{message}`"
        );
    }
    Ok(())
}

pub(crate) fn meta_keys_keep_to_their_characters(trace: &Trace) -> Outcome {
    for (key, message) in meta_keys(trace).into_iter().filter(|(key, _)| has_sound_ends(key)) {
        ensure!(
            has_sound_characters(&key),
            "a key of `_meta` with letters, digits, hyphens and dots, and underscores in its name",
            "the key `{key}` in `{message}`"
        );
        ensure!(
            !has_foreign_prefix(&key),
            "no prefix that is reserved for MCP but io.modelcontextprotocol",
            "the key `{key}` in `{message}`"
        );
    }
    Ok(())
}

/// A key of a trace's context, and whether a text has its form.
type Format = (&'static str, fn(&str) -> bool);

const CONTEXT: &[Format] = &[("traceparent", is_traceparent), ("tracestate", is_list), ("baggage", is_list)];

pub(crate) fn trace_context_has_the_formats_of_w3c(trace: &Trace) -> Outcome {
    let mut any = false;
    for message in sent(trace) {
        for meta in metas(&message) {
            for (key, is_valid) in CONTEXT {
                let Some(value) = meta.get(*key) else { continue };
                any = true;
                let fits = value.as_str().is_some_and(is_valid);
                ensure!(fits, format!("a `{key}` in the format of W3C"), "`{value}`");
            }
        }
    }
    if any { Ok(()) } else { Err(Stop::not_applicable("it sends no trace context")) }
}

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

/// `key=value` between commas; an element may be empty.
fn is_list(value: &str) -> bool {
    value.split(',').map(str::trim).filter(|element| !element.is_empty()).all(|element| {
        let key = element.split_once('=').map_or("", |(key, _)| key.trim());
        !key.is_empty() && element.is_ascii()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_the_grammar_has_them() {
        for key in ["progressToken", "com.example/a.b-c_d", "a1-b.c/", "x/1", "io.modelcontextprotocol/a"] {
            assert!(has_sound_ends(key) && has_sound_characters(key) && !has_foreign_prefix(key), "{key}");
        }
        for key in ["-a", "a-", "_a", "com..example/a", "1com/a", "com-/a", "/a", "com.example/ü"] {
            assert!(!has_sound_ends(key), "{key}");
        }
        assert!(!has_sound_characters("a/b/c") && !has_sound_characters("a:b"));
        assert!(has_foreign_prefix("dev.mcp.x/a"));
        assert!(!has_foreign_prefix("com.example.mcp/a") && !has_foreign_prefix("mcp"));
    }

    #[test]
    fn trace_contexts_are_read_as_w3c_has_them() {
        assert!(is_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
        assert!(!is_traceparent("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
        assert!(!is_traceparent("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
        assert!(is_list("a=1,b=2;c=d") && !is_list("a"));
    }

    #[test]
    fn ids_are_compared_within_a_session() {
        let request = |id: u32, method: &str| json!({"id": id, "method": method});
        let probed = [request(1, "server/discover"), request(1, "initialize"), request(2, "tools/list")];
        assert!(ids_occur_once(&probed).is_ok());
        assert!(ids_occur_once(&[request(1, "initialize"), request(1, "tools/list")]).is_err());
    }
}
