//! Checks of servers: requests depend on no connection, and each result has its type.

use serde_json::{Value, json};

use crate::check::{ANY, Check, check};
use crate::conversation::Conversation;
use crate::mcp_server::Server;
use crate::mcp_server::features::{List, entries, lists, readings};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(results_name_the_server, ANY),
    check!(extensions_have_a_prefix, ANY),
    check!(client_without_extensions_gets_the_core, ANY),
    check!(connection_makes_no_difference, ANY),
    check!(tools_are_those_of_every_connection, ANY),
    check!(tools_keep_their_order, ANY),
];

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

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
        let response = conversation.request(method, params).await.map_err(Stop::while_preparing)?;
        let Some(result) = response.get("result") else { continue };
        ensure!(
            result["_meta"][SERVER_INFO].is_object(),
            format!("`{SERVER_INFO}` in the _meta of the result of {method}"),
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
    let extensions = extensions.ok_or_else(|| Stop::not_applicable("the server declares no extensions"))?;
    for (name, _) in extensions {
        ensure!(has_prefix(name), "the name of an extension with a prefix such as com.example/", "`{name}`");
    }
    Ok(())
}

async fn client_without_extensions_gets_the_core(server: Server) -> Outcome {
    server.needs("/tools").await?;
    let mut conversation = server.open_with(json!({})).await?;
    let tool = server.any_tool(&mut conversation).await?;
    let response = conversation.request("tools/call", tool).await.map_err(Stop::while_preparing)?;
    let kind = &response["result"]["resultType"];
    ensure!(
        kind.is_null() || kind == "complete" || kind == "input_required",
        "a result of the core protocol, or an error, for a client without extensions",
        "`{response}`"
    );
    Ok(())
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The names of all tools, in the order of the server.
async fn tool_names(conversation: &mut Conversation) -> Outcome<Vec<String>> {
    let tools = entries(conversation, List::TOOLS).await?;
    Ok(tools.iter().map(|tool| tool["name"].to_string()).collect())
}

async fn connection_makes_no_difference(server: Server) -> Outcome {
    let lists = lists(&server).await?;
    let mut used = server.open().await?;
    used.ok("server/discover", json!({})).await.map_err(Stop::while_preparing)?;
    for list in lists {
        // Another requirement is about the tools of each connection.
        let has_keys = list.method != List::TOOLS.method;
        let found = |response: &Value| {
            let keys = if has_keys { list.keys(&response["result"]) } else { Vec::new() };
            (response.get("result").is_some(), sorted(keys.iter().map(Value::to_string)))
        };
        let on_used = used.request(list.method, json!({})).await.map_err(Stop::while_preparing)?;
        let on_new = server.open().await?.request(list.method, json!({})).await?;
        let again = used.request(list.method, json!({})).await.map_err(Stop::while_preparing)?;
        if found(&on_used) != found(&again) {
            return Err(Stop::inconclusive(format!(
                "the result of {} changed during the check",
                list.method
            )));
        }
        ensure!(
            found(&on_used) == found(&on_new),
            format!("the same result of {} on a new connection as on a used one", list.method),
            "`{on_new}` in place of `{on_used}`"
        );
    }
    Ok(())
}

async fn tools_are_those_of_every_connection(server: Server) -> Outcome {
    server.needs("/tools").await?;
    let (mut first, mut second) = (server.open().await?, server.open().await?);
    let on_first = sorted(tool_names(&mut first).await?.into_iter());
    let on_second = sorted(tool_names(&mut second).await?.into_iter());
    if on_first != sorted(tool_names(&mut first).await?.into_iter()) {
        return Err(Stop::inconclusive("the set of tools changed during the check"));
    }
    ensure!(
        on_first == on_second,
        "the same tools on each connection",
        "{on_first:?} and on the other {on_second:?}"
    );
    Ok(())
}

async fn tools_keep_their_order(server: Server) -> Outcome {
    server.needs("/tools").await?;
    let mut conversation = server.open().await?;
    let before = tool_names(&mut conversation).await?;
    let after = tool_names(&mut conversation).await?;
    if sorted(before.iter().cloned()) != sorted(after.iter().cloned()) {
        return Err(Stop::inconclusive("the set of tools changed during the check"));
    }
    ensure!(before == after, "the tools in the same order each time", "{before:?} and then {after:?}");
    Ok(())
}
