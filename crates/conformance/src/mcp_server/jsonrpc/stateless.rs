//! Checks of servers: what revisions without sessions demand of each message, and the schemas of tools.

use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::super::Server;
use super::super::exchanges::is_in_revision;
use super::super::raw::SILENCE;
use crate::check::{ANY, Check, audit, check};
use crate::fault::Fault;
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    audit!("RPC-28", results_have_a_type, ANY, [
        "leaves the type of results out" => faults::each_response(|m| { m.get_mut("result").and_then(Value::as_object_mut).map(|r| r.remove("resultType")); }),
        "writes the type as a number" => faults::result_of("tools/list", |result| result["resultType"] = json!(1)),
    ]),
    audit!("RPC-34", no_requests, ANY, [
        "pings its client" => faults::says_at("tools/list", |_| vec![json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})]),
    ]),
    check!("RPC-35", nothing_is_remembered, ANY, [
        "lists other tools the second time" => {
            let mut count = 0;
            faults::result_of("tools/list", move |result| {
                count += 1;
                if count > 1 {
                    result["tools"] = json!([]);
                }
            })
        },
    ]),
    check!("RPC-36", no_reference_is_followed, ANY, [
        "fetches what a schema refers to" => faults::says_at("tools/call", |message| {
            if message["params"]["name"] == "wire_remote_ref" {
                // The check listens there.
                drop(TcpStream::connect("127.0.0.1:47113"));
            }
            Vec::new()
        }),
    ]),
    check!("RPC-37", dialects_of_schemas, ANY, [
        "takes a schema without a dialect for one of an older dialect" => accepts("wire_pair"),
        "validates by a dialect that it does not know" => accepts("wire_foreign_dialect"),
    ]),
];

/// Every call of one tool succeeds.
fn accepts(tool: &'static str) -> Box<dyn Fault> {
    let called: Arc<Mutex<Vec<Value>>> = Arc::default();
    let ids = Arc::clone(&called);
    let notes = faults::says_at("tools/call", move |message| {
        if message["params"]["name"] == tool {
            ids.lock().unwrap_or_else(PoisonError::into_inner).push(message["id"].clone());
        }
        Vec::new()
    });
    let edits = faults::response_to("tools/call", move |message| {
        if called.lock().unwrap_or_else(PoisonError::into_inner).contains(&message["id"]) {
            *message = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}});
        }
    });
    faults::both(notes, edits)
}

fn results_have_a_type(server: &Server, trace: &Trace) -> Outcome {
    if !is_in_revision(server, trace) {
        return Ok(());
    }
    for message in trace.messages(Sender::Subject) {
        if let Some(result) = message.get("result") {
            ensure!(
                result["resultType"].is_string(),
                "a text as the `resultType` of each result",
                "`{message}`"
            );
        }
    }
    Ok(())
}

fn no_requests(server: &Server, trace: &Trace) -> Outcome {
    if !is_in_revision(server, trace) {
        return Ok(());
    }
    for message in trace.messages(Sender::Subject) {
        let is_request = message.get("method").is_some() && message.get("id").is_some();
        ensure!(!is_request, "no request of the server", "`{message}`");
    }
    Ok(())
}

async fn nothing_is_remembered(server: Server) -> Outcome {
    server.needs("/tools").await?;
    let mut lists = Vec::new();
    for _ in 0..2 {
        // Each conversation has a connection of its own.
        let mut conversation = server.open().await?;
        for _ in 0..2 {
            let mut result = conversation.ok("tools/list", json!({})).await?;
            lists.push(result["tools"].take());
        }
    }
    let is_same = lists.iter().all(|list| *list == lists[0]);
    ensure!(
        is_same,
        "the same list of tools for the same request on each connection",
        "{} different answers: `{}`",
        lists.iter().filter(|list| **list != lists[0]).count(),
        Value::from(lists.clone())
    );
    Ok(())
}

async fn no_reference_is_followed(server: Server) -> Outcome {
    let tool = server.tool("remote_ref")?;
    let address = server.setting.role("remote_ref")?["address"].as_str().unwrap_or_default();
    let listener = TcpListener::bind(address).await;
    let listener = listener
        .map_err(|error| Stop::inconclusive(format!("`{address}` cannot be listened at: {error}")))?;
    let mut conversation = server.open().await?;
    conversation.ok("tools/list", json!({})).await.map_err(Stop::while_preparing)?;
    // The call may fail, since the schema cannot be known in full.
    conversation.request("tools/call", tool).await.map_err(Stop::while_preparing)?;
    if let Ok(accepted) = tokio::time::timeout(SILENCE, listener.accept()).await {
        let from = accepted.map(|(_, from)| from.to_string()).unwrap_or_default();
        let expected = "no connection to where a reference in a tool's schema leads";
        return Err(Stop::failed(expected, format!("a connection from {from}")));
    }
    Ok(())
}

async fn dialects_of_schemas(server: Server) -> Outcome {
    let (pair, foreign) = (server.tool("pair"), server.tool("foreign_dialect"));
    if pair.is_err() && foreign.is_err() {
        return Err(Stop::not_applicable("the profile has no `pair` and no `foreign_dialect`"));
    }
    let mut conversation = server.open().await?;
    if let Ok(tool) = pair {
        let response = conversation.request("tools/call", tool.clone()).await?;
        ensure!(
            is_error(&response),
            format!("an error for `{tool}`, which dialect 2020-12 forbids"),
            "`{response}`"
        );
    }
    if let Ok(tool) = foreign {
        let response = conversation.request("tools/call", tool).await?;
        ensure!(is_error(&response), "an error for a schema in an unknown dialect", "`{response}`");
    }
    Ok(())
}

/// Whether a call failed, as a request or as a tool.
fn is_error(response: &Value) -> bool {
    response.get("error").is_some() || response.pointer("/result/isError") == Some(&json!(true))
}
