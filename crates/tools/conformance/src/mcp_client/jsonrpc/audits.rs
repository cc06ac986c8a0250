//! Rules for every message of a client.

use serde_json::{Value, json};

use crate::check::{ANY, Check, audit};
use crate::faults;
use crate::mcp_client::McpClient;
use crate::mcp_messages;
use crate::trace::Trace;
use crate::verdict::Outcome;

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
    audit!("RPC-08", errors_have_their_members, ANY, [
        "leaves out the code of an error" => faults::each_response(|m| {
            m.get_mut("error").and_then(Value::as_object_mut).map(|error| error.remove("code"));
        }),
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
        "gives notifications an id" => faults::each_message(|m| {
            if m["method"].as_str().is_some_and(|method| method.starts_with("notifications/")) {
                m["id"] = json!(77);
            }
        }),
    ]),
];

fn each_message_has_the_version(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::have_the_version(trace)
}

fn ids_are_strings_or_integers(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::ids_are_strings_or_integers(trace)
}

fn responses_have_a_result_or_an_error(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::responses_have_a_result_or_an_error(trace)
}

fn errors_have_their_members(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::errors_have_their_members(trace)
}

fn codes_are_integers(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::codes_are_integers(trace)
}

fn notifications_have_no_id(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::notifications_have_no_id(trace)
}
