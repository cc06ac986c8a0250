//! JSON-RPC as clients have to speak it.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::fields;
use crate::acp_client::AcpClient;
use crate::acp_client::run::{QUIET, audited};
use crate::acp_messages::{
    answers_an_unreadable_id_with_null, is_integer, refuses_malformed_lines, refuses_the_method,
};
use crate::check::{ANY, Check, STDIO, audit, check};
use crate::requirements::revision::Revision;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(repeats_the_id, ANY),
    audit!(responses_are_whole, ANY),
    check!(never_answers_a_notification, ANY),
    check!(refuses_unknown_methods, ANY),
    check!(refuses_plain_unknown_methods, ANY),
    check!(answers_custom_requests, ANY),
    check!(ignores_unknown_notifications, ANY),
    audit!(methods_are_specified, ANY),
    audit!(members_are_specified, ANY),
    audit!(names_have_one_style, ANY),
    audit!(errors_are_sentences, ANY),
    check!(reports_invalid_json, STDIO),
    check!(an_unreadable_id_is_null, STDIO),
    check!(goes_on_after_errors, ANY),
    audit!(paths_are_absolute, ANY),
    audit!(trace_context_is_w3c, ANY),
    audit!(extensions_are_advertised, ANY),
];

async fn repeats_the_id(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.run.is_alive().await.map_err(Stop::while_preparing)?;
    let mut ids =
        vec![json!(0), json!(-1), json!(9_007_199_254_740_991_i64), json!("abc-é"), json!("7"), json!("")];
    if client.revision() == Revision::Acp1 {
        ids.push(Value::Null);
    }
    for id in ids {
        let agent = &mut turn.run.agent;
        agent.start_as(id.clone(), "_conformance/unknown", json!({})).await?;
        agent.response(&id).await?;
    }
    Ok(())
}

fn responses_are_whole(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for response in trace.messages(Sender::Subject).iter().filter(|message| message.get("method").is_none()) {
        let (result, error) = (response.get("result"), response.get("error"));
        // Without an id it is not a response either, which is the concern of TR-04.
        if result.is_none() && error.is_none() && response.get("id").is_none() {
            continue;
        }
        ensure!(
            result.is_some() != error.is_some(),
            "either a result or an error in a response",
            "`{response}`"
        );
        if let Some(error) = error {
            let is_whole = is_integer(&error["code"]) && error["message"].is_string();
            ensure!(is_whole, "an error with an integer code and a text", "`{response}`");
        }
    }
    Ok(())
}

async fn never_answers_a_notification(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let agent = &mut turn.run.agent;
    agent.notify("_conformance/unknown", json!({})).await?;
    agent.notify("session/update", json!({"sessionId": 7})).await?;
    agent.notify("session/update", json!([])).await?;
    agent.silence(QUIET, "no response to a notification", |message| message.get("method").is_some()).await
}

async fn refuses_unknown_methods(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let response = turn.ask("_conformance/unknown", json!({})).await;
    // RPC-05 demands a response.
    refuses_the_method(&response.map_err(Stop::while_preparing)?, "_conformance/unknown")
}

async fn refuses_plain_unknown_methods(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    for method in ["conformance/unknown", "session/conformance_unknown"] {
        turn.error_code(method, json!({}), -32601).await?;
    }
    Ok(())
}

async fn answers_custom_requests(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.ask("_conformance/unknown", json!({"any": [1, "two"]})).await.map(drop)
}

async fn ignores_unknown_notifications(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.run.is_alive().await.map_err(Stop::while_preparing)?;
    turn.run.agent.notify("_conformance/unknown", json!({"any": 1})).await?;
    turn.run.agent.notify("conformance/unknown", json!({})).await?;
    turn.run.is_alive().await
}

fn methods_are_specified(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for message in trace.messages(Sender::Subject) {
        if let Some(method) = message["method"].as_str() {
            let is_fine = method.starts_with('_') || fields::is_method(method);
            ensure!(is_fine, "only specified methods, and others with an underscore", "`{message}`");
        }
    }
    Ok(())
}

/// The methods of the suite's requests, by id.
fn asked(trace: &Trace) -> HashMap<String, String> {
    let requests = trace.messages(Sender::Suite).into_iter();
    let asked = requests
        .filter_map(|request| Some((request.get("id")?.to_string(), request["method"].as_str()?.to_owned())));
    asked.collect()
}

fn unspecified(trace: &Trace) -> Option<(String, Value)> {
    let asked = asked(trace);
    trace.messages(Sender::Subject).into_iter().find_map(|message| {
        let method = asked.get(&message["id"].to_string()).map_or("", String::as_str);
        Some((fields::unspecified(&message, method)?, message))
    })
}

fn members_are_specified(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    match unspecified(trace) {
        None => Ok(()),
        Some((place, message)) => {
            Err(Stop::failed("only specified members beside `_meta`", format!("`{place}` in `{message}`")))
        }
    }
}

fn names_have_one_style(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for message in trace.messages(Sender::Subject) {
        let wrong = ["params", "result"].iter().find_map(|body| wrong_style(message.get(body)?));
        if let Some(name) = wrong {
            return Err(Stop::failed(
                "values that select a variant in snake_case",
                format!("`{name}` in `{message}`"),
            ));
        }
    }
    Ok(())
}

fn wrong_style(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(wrong_style),
        Value::Object(members) => members.iter().find_map(|(name, member)| match name.as_str() {
            // What is in these has names of its own.
            "_meta" | "env" | "headers" | "content" | "text" => None,
            "type" | "outcome" | "action" if member.is_string() => {
                let text = member.as_str().unwrap_or_default();
                (text.chars().any(char::is_uppercase) && !text.starts_with('_')).then(|| text.to_owned())
            }
            _ => wrong_style(member),
        }),
        _ => None,
    }
}

fn errors_are_sentences(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for message in trace.messages(Sender::Subject) {
        if let Some(text) = message["error"]["message"].as_str() {
            let is_short = !text.trim().is_empty() && !text.contains('\n') && text.chars().count() <= 500;
            ensure!(is_short, "an error's message that is one short sentence", "`{text}`");
        }
    }
    Ok(())
}

async fn reports_invalid_json(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.run.is_alive().await.map_err(Stop::while_preparing)?;
    refuses_malformed_lines(&mut turn.run.agent).await?;
    turn.run.is_alive().await
}

async fn an_unreadable_id_is_null(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    answers_an_unreadable_id_with_null(&mut turn.run.agent).await
}

async fn goes_on_after_errors(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.ask("_conformance/0", json!({})).await.map_err(Stop::while_preparing)?;
    for number in 1..10 {
        turn.ask(&format!("_conformance/{number}"), json!({})).await?;
    }
    let malformed = turn.ask("session/request_permission", json!({})).await;
    malformed.map_err(Stop::while_preparing)?;
    turn.run.is_alive().await
}

/// SES-03, SES-16 and SES-25 are about the paths of session setup.
fn paths_are_absolute(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for message in trace.messages(Sender::Subject) {
        let path = message["params"]["cwd"].as_str().filter(|_| message["method"] == "session/list");
        ensure!(path.is_none_or(is_absolute), "every file path is absolute", "`{message}`");
    }
    Ok(())
}

/// Whether a path is absolute on any system.
pub(in crate::acp_client) fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with(['/', '\\']) || (bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':')
}

fn trace_context_is_w3c(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    for message in trace.messages(Sender::Subject) {
        for body in ["params", "result"] {
            if let Some(parent) = message[body]["_meta"].get("traceparent") {
                let parts: Vec<&str> = parent.as_str().unwrap_or_default().split('-').collect();
                let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
                let is_hex = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()));
                let is_right = lengths.starts_with(&[2, 32, 16, 2]) && is_hex;
                ensure!(is_right, "`traceparent` in the form of W3C", "{parent} in `{message}`");
            }
            for name in ["tracestate", "baggage"] {
                let value = message[body]["_meta"].get(name);
                ensure!(
                    value.is_none_or(Value::is_string),
                    "`tracestate` and `baggage` as texts",
                    "`{message}`"
                );
            }
        }
    }
    Ok(())
}

fn extensions_are_advertised(client: &AcpClient, trace: &Trace) -> Outcome {
    audited(client, trace)?;
    let answers = trace.messages(Sender::Suite);
    let advertises = answers.iter().any(|answer| {
        ["agentCapabilities", "capabilities"].iter().any(|name| answer["result"][name]["_meta"].is_object())
    });
    for message in trace.messages(Sender::Subject) {
        let is_custom = message["method"].as_str().is_some_and(|method| method.starts_with('_'));
        let is_custom = is_custom && message.get("id").is_some();
        ensure!(
            !is_custom || advertises,
            "extensions are used only after the agent has advertised them",
            "`{message}`"
        );
    }
    Ok(())
}
