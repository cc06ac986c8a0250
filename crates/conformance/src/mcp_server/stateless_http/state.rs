//! Requests depend on no connection, and what each result says.

use serde_json::{Value, json};

use crate::check::{ANY, Check, check};
use crate::faults;
use crate::mcp_server::Server;
use crate::mcp_server::features::{List, entries, lists, readings};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!("ST-08", results_name_the_server, ANY, [
        "names itself in server/discover only" => faults::result_of("tools/list", drop_meta),
        "does not name itself in what it reads" => faults::result_of("resources/read", drop_meta),
        "does not say its version" => faults::result_of("tools/call", |result| {
            result["_meta"][SERVER_INFO] = json!({"name": "server"});
        }),
    ]),
    check!("ST-44", extensions_have_a_prefix, ANY, [
        "names an extension without a prefix" => faults::result_of("server/discover", |result| {
            result["capabilities"]["extensions"] = json!({"tasks": {}});
        }),
        "uses an extension that the client lacks" => faults::result_of("tools/call", |result| {
            *result = json!({"resultType": "task", "taskId": "1", "status": "working"});
        }),
    ]),
    check!("ST-45", connection_makes_no_difference, ANY, [
        "wants a request before" => {
            let mut requests = 0;
            faults::response_to("tools/list", move |m| {
                requests += 1;
                if requests == 2 {
                    *m = json!({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32600, "message": "first"}});
                }
            })
        },
        "has less for a new connection" => {
            let mut requests = 0;
            faults::result_of("resources/list", move |result| {
                requests += 1;
                if requests == 2 {
                    result["resources"] = json!([]);
                }
            })
        },
    ]),
    check!("ST-45b", tools_are_those_of_every_connection, ANY, [
        "has tools of a connection" => {
            let mut requests = 0;
            faults::result_of("tools/list", move |result| {
                requests += 1;
                if let (2, Some(tools)) = (requests, result["tools"].as_array_mut()) {
                    tools.push(json!({"name": "tool-of-this-connection", "inputSchema": {"type": "object"}}));
                }
            })
        },
    ]),
    check!("ST-46", tools_keep_their_order, ANY, [
        "lists its tools in another order" => {
            let mut requests = 0;
            faults::result_of("tools/list", move |result| {
                requests += 1;
                if let (2, Some(tools)) = (requests, result["tools"].as_array_mut()) {
                    tools.reverse();
                }
            })
        },
    ]),
];

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

fn drop_meta(result: &mut Value) {
    if let Some(result) = result.as_object_mut() {
        result.remove("_meta");
    }
}

async fn results_name_the_server(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let mut requests = vec![("server/discover", json!({}))];
    match lists(&server).await {
        Ok(lists) => requests.extend(lists.iter().map(|list| (list.method, json!({})))),
        Err(Stop::NotApplicable(_)) => {}
        Err(stop) => return Err(stop),
    }
    if requests.len() > 1 {
        requests.extend(readings(&server, &mut conversation).await?);
    }
    if requests.iter().any(|(method, _)| *method == "tools/list") {
        let tool = server.any_tool(&mut conversation).await;
        requests.extend(tool.into_iter().map(|tool| ("tools/call", tool)));
    }
    for (method, params) in requests {
        let response = conversation.request(method, params).await?;
        let Some(result) = response.get("result") else { continue };
        let info = &result["_meta"][SERVER_INFO];
        ensure!(
            info["name"].is_string() && info["version"].is_string(),
            format!("a name and a version as `{SERVER_INFO}` in the _meta of the result of {method}"),
            "the _meta `{}`",
            result["_meta"]
        );
    }
    Ok(())
}

/// Whether a name has a prefix: labels, each of which begins with a letter and ends with a letter or a digit.
fn has_prefix(name: &str) -> bool {
    let is_label = |label: &str| {
        label.starts_with(|first: char| first.is_ascii_alphabetic())
            && label.ends_with(|last: char| last.is_ascii_alphanumeric())
            && label.chars().all(|char| char.is_ascii_alphanumeric() || char == '-')
    };
    name.split_once('/').is_some_and(|(prefix, _)| prefix.split('.').all(is_label))
}

async fn extensions_have_a_prefix(server: Server) -> Outcome {
    let offer = server.offer().await?;
    let extensions = offer.pointer("/capabilities/extensions").and_then(Value::as_object);
    for (name, _) in extensions.into_iter().flatten() {
        ensure!(has_prefix(name), "the name of an extension with a prefix such as com.example/", "`{name}`");
    }
    if offer.pointer("/capabilities/tools").is_none() {
        return Ok(());
    }
    let mut conversation = server.open_with(json!({})).await?;
    let tool = match server.any_tool(&mut conversation).await {
        Err(Stop::NotApplicable(_)) => return Ok(()),
        tool => tool?,
    };
    let response = conversation.request("tools/call", tool).await?;
    let kind = &response["result"]["resultType"];
    ensure!(
        kind.is_null() || kind == "complete" || kind == "input_required",
        "a result of the core protocol, or an error, for a client without extensions",
        "`{response}`"
    );
    Ok(())
}

async fn connection_makes_no_difference(server: Server) -> Outcome {
    let lists = lists(&server).await?;
    let mut used = server.open().await?;
    used.ok("server/discover", json!({})).await?;
    for list in lists {
        let on_used = used.request(list.method, json!({})).await?;
        let on_new = server.open().await?.request(list.method, json!({})).await?;
        let keys = |response: &Value| list.keys(&response["result"]);
        ensure!(
            on_used.get("result").is_some() == on_new.get("result").is_some()
                && keys(&on_used) == keys(&on_new),
            format!("the same result of {} on a new connection as on a used one", list.method),
            "`{on_new}` in place of `{on_used}`"
        );
    }
    Ok(())
}

async fn tools_are_those_of_every_connection(server: Server) -> Outcome {
    server.needs("/tools").await?;
    let mut found = Vec::new();
    for _ in 0..2 {
        let tools = entries(&mut server.open().await?, List::TOOLS).await?;
        let mut names: Vec<String> = tools.iter().map(|tool| tool["name"].to_string()).collect();
        names.sort();
        found.push(names);
    }
    ensure!(
        found[0] == found[1],
        "the same tools on each connection",
        "{:?} and then {:?}",
        found[0],
        found[1]
    );
    Ok(())
}

async fn tools_keep_their_order(server: Server) -> Outcome {
    server.needs("/tools").await?;
    let mut conversation = server.open().await?;
    let mut found = Vec::new();
    for _ in 0..2 {
        let tools = entries(&mut conversation, List::TOOLS).await?;
        found.push(tools.iter().map(|tool| tool["name"].to_string()).collect::<Vec<_>>());
    }
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    if sorted(&found[0]) != sorted(&found[1]) {
        return Err(Stop::inconclusive("the set of tools changed meanwhile"));
    }
    ensure!(
        found[0] == found[1],
        "the tools in the same order each time",
        "{:?} and then {:?}",
        found[0],
        found[1]
    );
    Ok(())
}
