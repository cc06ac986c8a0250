//! Checks of servers: subscriptions.

use serde_json::{Value, json};

use crate::check::{ANY, Check, STDIO, check};
use crate::conversation::{Arrived, Conversation};
use crate::mcp_server::Server;
use crate::mcp_server::features::{List, METHOD_NOT_FOUND, SILENCE, entries, has_code};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(acknowledgement_comes_first, ANY),
    check!(acknowledgement_lists_what_is_granted, ANY),
    check!(messages_carry_the_subscription, ANY),
    check!(only_requested_types, ANY),
    check!(only_listed_resources, ANY),
    check!(subscriptions_are_apart, ANY),
    check!(cancelled_subscription_is_silent, STDIO),
    check!(ended_subscription_has_a_result, STDIO),
    check!(empty_filter_is_silent, ANY),
    check!(no_progress, ANY),
];

const KEY: &str = "io.modelcontextprotocol/subscriptionId";
pub(crate) const SUBSCRIPTION: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
pub(crate) const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const PROGRESS: &str = "notifications/progress";

fn is_of(message: &Value, id: &Value) -> bool {
    message.pointer(SUBSCRIPTION) == Some(id)
}

/// Opens a subscription and returns the first message that belongs to it.
async fn listen(conversation: &mut Conversation, id: &Value, filter: Value) -> Outcome<Value> {
    conversation.start_as(id.clone(), "subscriptions/listen", json!({"notifications": filter})).await?;
    let is_first = |message: &Value| {
        is_of(message, id) || message["method"] == ACKNOWLEDGED || message.get("id") == Some(id)
    };
    let first = conversation.wanted("an acknowledgement of subscriptions/listen", is_first).await?;
    if has_code(&first, METHOD_NOT_FOUND) {
        return Err(Stop::not_applicable("the server has no subscriptions"));
    }
    Ok(first)
}

/// Opens a subscription for a check that is about what follows: the acknowledgement.
async fn prepare(conversation: &mut Conversation, id: &Value, filter: Value) -> Outcome<Value> {
    let first = listen(conversation, id, filter).await.map_err(Stop::while_preparing)?;
    if first["method"] == ACKNOWLEDGED {
        return Ok(first);
    }
    Err(Stop::inconclusive(format!("subscriptions/listen was answered by `{first}`")))
}

async fn call(server: &Server, conversation: &mut Conversation, role: &str) -> Outcome {
    let tool = server.tool(role)?;
    conversation.ok("tools/call", tool).await.map_err(Stop::while_preparing)?;
    Ok(())
}

async fn acknowledgement_comes_first(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    conversation.ok("server/discover", json!({})).await.map_err(Stop::while_preparing)?;
    let filter = json!({"toolsListChanged": true});
    let first = listen(&mut conversation, &json!("tools"), filter).await?;
    if first.get("error").is_some() {
        return Err(Stop::inconclusive(format!("subscriptions/listen was answered by `{first}`")));
    }
    ensure!(first["method"] == ACKNOWLEDGED, "the acknowledgement as the first message", "`{first}`");
    Ok(())
}

async fn acknowledgement_lists_what_is_granted(server: Server) -> Outcome {
    let capabilities = server.offer().await?["capabilities"].take();
    let mut conversation = server.open().await?;
    let uri = "conformance:nothing";
    let all = json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": [uri],
    });
    for (id, filter) in [("tools", json!({"toolsListChanged": true})), ("all", all)] {
        let first = prepare(&mut conversation, &json!(id), filter.clone()).await?;
        let granted = &first["params"]["notifications"];
        let members = granted.as_object();
        ensure!(members.is_some(), "an object as `notifications` of the acknowledgement", "`{first}`");
        for (name, value) in members.into_iter().flatten().filter(|(_, value)| is_granted(value)) {
            let is_asked = if name == "resourceSubscriptions" {
                filter.get(name).is_some() && *value == json!([uri])
            } else {
                filter.get(name) == Some(value)
            };
            ensure!(is_asked, format!("no more than the filter `{filter}`"), "`{name}` of `{granted}`");
            let offered = match name.as_str() {
                "toolsListChanged" => "/tools/listChanged",
                "promptsListChanged" => "/prompts/listChanged",
                "resourcesListChanged" => "/resources/listChanged",
                _ => continue,
            };
            ensure!(
                capabilities.pointer(offered).is_some_and(|offered| *offered == true),
                "only what the server offers in its capabilities",
                "`{name}` of `{granted}` and the capabilities `{capabilities}`"
            );
        }
    }
    Ok(())
}

/// Whether a member of an acknowledgement grants something.
fn is_granted(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != json!([])
}

async fn messages_carry_the_subscription(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    for id in [json!(42), json!("text")] {
        let first = prepare(&mut conversation, &id, json!({"toolsListChanged": true})).await?;
        ensure!(
            is_of(&first, &id),
            format!("{id}, of the same type, as `{KEY}` in the _meta of the acknowledgement"),
            "`{first}`"
        );
    }
    let Ok(tool) = server.tool("changes_tools") else { return Ok(()) };
    conversation.ok("tools/call", tool).await.map_err(Stop::while_preparing)?;
    let mut missing = vec![json!(42), json!("text")];
    while !missing.is_empty() {
        let what = format!("{TOOLS_CHANGED} of both subscriptions");
        let message = conversation.wanted(&what, |message| message["method"] == TOOLS_CHANGED).await;
        let message = message.map_err(Stop::while_preparing)?;
        let id = message.pointer(SUBSCRIPTION).filter(|id| **id == 42 || **id == "text");
        ensure!(id.is_some(), format!("42 or \"text\" as `{KEY}` in the _meta"), "`{message}`");
        missing.retain(|missing| Some(missing) != id);
    }
    Ok(())
}

/// A notification that names no subscription counts as well: on stdio all of them share a channel.
async fn only_requested_types(server: Server) -> Outcome {
    let roles = ["changes_prompts", "updates", "changes_tools"];
    server.tool("changes_tools")?;
    if roles[..2].iter().all(|role| server.tool(role).is_err()) {
        return Err(Stop::missing_role("changes_prompts"));
    }
    let mut conversation = server.open().await?;
    prepare(&mut conversation, &json!("tools"), json!({"toolsListChanged": true})).await?;
    for role in roles.iter().filter(|role| server.tool(role).is_ok()) {
        call(&server, &mut conversation, role).await?;
    }
    let changed = conversation.wanted(TOOLS_CHANGED, |message| message["method"] == TOOLS_CHANGED).await;
    changed.map_err(Stop::while_preparing)?;
    let others = [PROMPTS_CHANGED, RESOURCES_CHANGED, UPDATED];
    let what = "only types of notification that the client has requested";
    conversation
        .silence(SILENCE, what, |message| !others.iter().any(|other| message["method"] == *other))
        .await
}

async fn only_listed_resources(server: Server) -> Outcome {
    let updates = server.setting.role("updates")?.clone();
    let mut conversation = server.open().await?;
    let resources = entries(&mut conversation, List::RESOURCES).await?;
    let other = resources.iter().map(|resource| &resource["uri"]).find(|uri| **uri != updates["uri"]);
    let other = other.cloned().unwrap_or_else(|| json!("conformance:nothing"));
    prepare(&mut conversation, &json!("other"), json!({"resourceSubscriptions": [other]})).await?;
    let listed = json!({"resourceSubscriptions": [updates["uri"]]});
    prepare(&mut conversation, &json!("updated"), listed).await?;
    call(&server, &mut conversation, "updates").await?;
    let is_updated = |message: &Value| message["method"] == UPDATED && is_of(message, &json!("updated"));
    conversation.wanted("the update of a resource", is_updated).await.map_err(Stop::while_preparing)?;
    conversation
        .silence(SILENCE, "only updates of the resources that the subscription lists", |message| {
            message["method"] != UPDATED || !is_of(message, &json!("other"))
        })
        .await
}

async fn subscriptions_are_apart(server: Server) -> Outcome {
    let (tools, prompts) = (server.tool("changes_tools")?, server.tool("changes_prompts")?);
    let mut conversation = server.open().await?;
    let first = prepare(&mut conversation, &json!("tools"), json!({"toolsListChanged": true})).await?;
    let second = listen(&mut conversation, &json!("prompts"), json!({"promptsListChanged": true})).await?;
    ensure!(second["method"] == ACKNOWLEDGED, "an acknowledgement of the second subscription", "`{second}`");
    for (acknowledged, name) in [(first, "toolsListChanged"), (second, "promptsListChanged")] {
        if acknowledged["params"]["notifications"][name] != true {
            return Err(Stop::not_applicable(format!("the server does not grant {name}")));
        }
    }
    for tool in [tools, prompts] {
        conversation.ok("tools/call", tool).await.map_err(Stop::while_preparing)?;
    }
    let mut missing = vec![(TOOLS_CHANGED, json!("tools")), (PROMPTS_CHANGED, json!("prompts"))];
    while let Some((method, id)) = missing.pop() {
        let what = format!("{method} of the subscription {id}");
        conversation.wanted(&what, |message| is_of(message, &id) && message["method"] == method).await?;
    }
    conversation
        .silence(SILENCE, "only what each subscription asked for", |message| {
            match message.pointer(SUBSCRIPTION).and_then(Value::as_str) {
                Some("tools") => message["method"] == TOOLS_CHANGED,
                Some("prompts") => message["method"] == PROMPTS_CHANGED,
                _ => true,
            }
        })
        .await
}

async fn cancelled_subscription_is_silent(server: Server) -> Outcome {
    let id = json!("cancelled");
    let mut conversation = server.open().await?;
    server.tool("changes_tools")?;
    prepare(&mut conversation, &id, json!({"toolsListChanged": true})).await?;
    conversation.notify("notifications/cancelled", json!({"requestId": id})).await?;
    // What the server had sent already may still arrive.
    conversation.ok("server/discover", json!({})).await.map_err(Stop::while_preparing)?;
    conversation.listen(SILENCE).await?;
    call(&server, &mut conversation, "changes_tools").await?;
    let what = "no notification of a subscription that was cancelled";
    conversation.silence(SILENCE, what, |message| !is_of(message, &id)).await
}

async fn ended_subscription_has_a_result(server: Server) -> Outcome {
    let id = json!("ended");
    server.tool("end_subscriptions")?;
    let mut conversation = server.open().await?;
    prepare(&mut conversation, &id, json!({"toolsListChanged": true})).await?;
    call(&server, &mut conversation, "end_subscriptions").await?;
    // A server that ends it in silence breaks CAN-11.
    let ends = |message: &Value| {
        message["id"] == id
            || message["method"] == "notifications/cancelled" && message["params"]["requestId"] == id
    };
    let ended = conversation.wanted("the end of the subscription", ends).await;
    let ended = ended.map_err(Stop::while_preparing)?;
    let response = if ended["id"] == id { ended } else { conversation.response(&id).await? };
    let result = &response["result"];
    ensure!(
        result["resultType"] == "complete" && result["_meta"][KEY] == id,
        format!("a result of the type complete with {id} as `{KEY}` in its _meta"),
        "`{response}`"
    );
    Ok(())
}

async fn empty_filter_is_silent(server: Server) -> Outcome {
    let id = json!("nothing");
    let mut conversation = server.open().await?;
    prepare(&mut conversation, &id, json!({})).await?;
    for role in ["changes_tools", "changes_prompts", "updates"] {
        if server.tool(role).is_ok() {
            call(&server, &mut conversation, role).await?;
        }
    }
    let what = "no notification of a subscription with an empty filter";
    conversation.silence(SILENCE, what, |message| !is_of(message, &id)).await
}

async fn no_progress(server: Server) -> Outcome {
    let mut tool = server.tool("progress")?;
    tool["_meta"] = json!({"progressToken": "token"});
    let mut conversation = server.open().await?;
    let all = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
    conversation.start_as(json!("all"), "subscriptions/listen", json!({"notifications": all})).await?;
    let first = |message: &Value| is_of(message, &json!("all")) || message["id"] == "all";
    let acknowledged = conversation.arrived("an answer to subscriptions/listen", first).await;
    let acknowledged = acknowledged.map_err(Stop::while_preparing)?;
    conversation.ok("tools/call", tool).await.map_err(Stop::while_preparing)?;
    let mut arrived = conversation.listen(SILENCE).await?;
    arrived.retain(|arrived| arrived.message["method"] == PROGRESS);
    for Arrived { message, stream } in &arrived {
        let is_apart = *stream == 0 || *stream != acknowledged.stream;
        let what = "no progress notifications on a subscription";
        ensure!(message.pointer(SUBSCRIPTION).is_none() && is_apart, what, "`{message}`");
    }
    if arrived.is_empty() {
        return Err(Stop::inconclusive("the tool of the role `progress` reported nothing"));
    }
    Ok(())
}
