//! Rules for every message of a client.

use serde_json::{Value, json};

use crate::check::{ANY, Check, audit};
use crate::faults;
use crate::mcp_client::McpClient;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    audit!("RPC-01", each_message_has_the_version, ANY, [
        "leaves the version out" => faults::each_message(|m| { m.as_object_mut().map(|m| m.remove("jsonrpc")); }),
        "writes the version as a number" => faults::each_message(|m| m["jsonrpc"] = json!(2.0)),
    ]),
    audit!("RPC-02", ids_are_strings_or_integers, ANY, [
        "sends null ids" => faults::each_message(|m| if m.get("id").is_some() { m["id"] = json!(null) }),
        "sends fractions as ids" => faults::each_message(|m| if m.get("id").is_some() { m["id"] = json!(1.5) }),
    ]),
    audit!("RPC-07", responses_have_a_result_or_an_error, ANY, [
        "answers with a result and an error" => faults::each_response(|m| {
            m["result"] = json!({});
            m["error"] = json!({"code": -32603, "message": "failed"});
        }),
        "answers with neither" => faults::each_response(|m| { m.as_object_mut().map(|m| m.remove("result")); }),
    ]),
    audit!("RPC-08", responses_have_their_members, ANY, [
        "answers with neither" => faults::each_response(|m| { m.as_object_mut().map(|m| m.remove("result")); }),
        "leaves out the message of an error" => faults::each_response(|m| {
            m.get_mut("error").and_then(Value::as_object_mut).map(|error| error.remove("message"));
        }),
    ]),
    audit!("RPC-09", codes_are_integers, ANY, [
        "writes codes as strings" => faults::each_response(|m| if m.get("error").is_some() {
            m["error"]["code"] = json!("-32601");
        }),
    ]),
    audit!("RPC-10", notifications_have_no_id, ANY, [
        "gives notifications an id" => faults::each_message(|m| if is_notification(m) { m["id"] = json!(77) }),
    ]),
    audit!("RPC-31", no_undefined_codes, ANY, [
        "answers with -32002" => faults::says_at("notifications/message", |_| vec![refusal(-32002)]),
        "answers with -32050" => faults::says_at("notifications/message", |_| vec![refusal(-32050)]),
    ]),
    audit!("RPC-32", no_codes_of_its_own, ANY, [
        "answers with -32001" => faults::says_at("notifications/message", |_| vec![refusal(-32001)]),
    ]),
    audit!("RPC-34", clients_send_no_responses, ANY, [
        "answers a notification" => faults::says_at("notifications/message", |_| vec![refusal(-32601)]),
    ]),
];

fn refusal(code: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "refused"}})
}

fn is_notification(message: &Value) -> bool {
    message["method"].as_str().is_some_and(|method| method.starts_with("notifications/"))
}

fn each_message_has_the_version(_: &McpClient, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        ensure!(message["jsonrpc"] == "2.0", "`\"jsonrpc\":\"2.0\"` on every message", "`{message}`");
    }
    Ok(())
}

fn ids_are_strings_or_integers(_: &McpClient, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else {
            continue;
        };
        ensure!(
            id.is_string() || id.is_i64() || id.is_u64(),
            "a string or an integer as the id",
            "`{message}`"
        );
    }
    Ok(())
}

/// The responses of the client. An audit of them has nothing to look at where there are none.
fn responses(trace: &Trace) -> Outcome<Vec<Value>> {
    let mut messages = trace.messages(Sender::Subject);
    messages.retain(|message| message.is_object() && message.get("method").is_none());
    if messages.is_empty() {
        return Err(Stop::not_applicable("the client sent no response"));
    }
    Ok(messages)
}

fn responses_have_a_result_or_an_error(_: &McpClient, trace: &Trace) -> Outcome {
    for message in responses(trace)? {
        ensure!(
            message.get("result").is_some() != message.get("error").is_some(),
            "either a result or an error in a response",
            "`{message}`"
        );
    }
    Ok(())
}

fn responses_have_their_members(_: &McpClient, trace: &Trace) -> Outcome {
    for message in responses(trace)? {
        let Some(error) = message.get("error") else {
            ensure!(message.get("result").is_some(), "a result or an error in a response", "`{message}`");
            continue;
        };
        ensure!(
            is_integer(&error["code"]) && error["message"].is_string(),
            "an integer code and a string message in an error",
            "`{message}`"
        );
    }
    Ok(())
}

fn codes_are_integers(_: &McpClient, trace: &Trace) -> Outcome {
    for message in responses(trace)? {
        let Some(error) = message.get("error") else {
            continue;
        };
        ensure!(is_integer(&error["code"]), "an integer as the code of an error", "`{message}`");
    }
    Ok(())
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

fn notifications_have_no_id(_: &McpClient, trace: &Trace) -> Outcome {
    let messages = trace.messages(Sender::Subject);
    let mut notifications = messages.iter().filter(|message| is_notification(message)).peekable();
    if notifications.peek().is_none() {
        return Err(Stop::not_applicable("the client sent no notification"));
    }
    for message in notifications {
        ensure!(message.get("id").is_none(), "a notification without an id", "`{message}`");
    }
    Ok(())
}

/// The code of an error that the client sent.
fn codes(trace: &Trace) -> Vec<(i64, Value)> {
    let messages = trace.messages(Sender::Subject).into_iter();
    messages.filter_map(|message| Some((message.get("error")?["code"].as_i64()?, message))).collect()
}

fn no_undefined_codes(_: &McpClient, trace: &Trace) -> Outcome {
    for (code, message) in codes(trace) {
        let is_defined = !(-32099..=-32020).contains(&code) || (-32022..=-32020).contains(&code);
        ensure!(
            is_defined && code != -32002 && code != -32042,
            "no code between -32099 and -32020 that the protocol does not define, and neither -32002 nor -32042",
            "`{message}`"
        );
    }
    Ok(())
}

fn no_codes_of_its_own(_: &McpClient, trace: &Trace) -> Outcome {
    for (code, message) in codes(trace) {
        ensure!(
            !(-32019..=-32000).contains(&code) || code == -32002,
            "no code between -32019 and -32000",
            "`{message}`"
        );
    }
    Ok(())
}

fn clients_send_no_responses(_: &McpClient, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        ensure!(message.get("method").is_some(), "requests and notifications only", "`{message}`");
    }
    Ok(())
}
