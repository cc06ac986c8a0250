//! Optional members and items that cannot be read.

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::acp_client::run::{PromptTurn, permission};
use crate::check::{ANY, Check, check};
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(accepts_any_meta, ANY),
    check!(reads_around_malformed_members, ANY),
    check!(drops_invalid_items, ANY),
    check!(null_is_an_empty_list, ANY),
];

async fn accepts_any_meta(client: AcpClient) -> Outcome {
    let meta = json!({"example.com/any": [1, [2, {"three": null}]], "": false});
    let script = client.script().change("session/new", |result| result["_meta"] = meta.clone());
    let mut turn = client.prompted(script).await?;
    allows_with(&mut turn, &json!({})).await.map_err(Stop::while_preparing)?;
    let mut chunk = json!({"sessionUpdate": "agent_message_chunk", "messageId": "message-2",
        "content": {"type": "text", "text": "hello", "_meta": meta}});
    chunk["_meta"] = meta.clone();
    turn.update(chunk).await?;
    allows_with(&mut turn, &meta).await?;
    turn.run.is_alive().await
}

async fn allows_with(turn: &mut PromptTurn, meta: &Value) -> Outcome {
    let mut request = permission(turn.run.client.revision(), "call-1");
    request["_meta"] = meta.clone();
    request["options"][0]["_meta"] = meta.clone();
    turn.ok("session/request_permission", request).await.map(drop)
}

async fn reads_around_malformed_members(client: AcpClient) -> Outcome {
    let is_second = client.revision() == Revision::Acp2;
    let mut request = permission(client.revision(), "call-1");
    let mut turn = client.prompted(client.script()).await?;
    turn.ok("session/request_permission", request.clone()).await.map_err(Stop::while_preparing)?;
    drop(turn);
    let script = client.script().change("initialize", |greeting| {
        greeting["authMethods"] = json!("none");
        if !is_second {
            greeting["agentInfo"] = json!(7);
        }
    });
    let (mut run, _) =
        client.begin("prompt", json!({"text": "hello"}), script.leaves("session/prompt")).await?;
    run.first("session/prompt").await?;
    request["sessionId"] = json!("session-1");
    if is_second {
        request["description"] = json!([7]);
        request["subject"]["toolCall"]["locations"] = json!("here");
    } else {
        request["toolCall"]["kind"] = json!({"not": "a kind"});
        request["toolCall"]["locations"] = json!("here");
    }
    run.agent.ok("session/request_permission", request).await.map(drop)
}

async fn drops_invalid_items(client: AcpClient) -> Outcome {
    let key = if client.revision() == Revision::Acp2 { "configId" } else { "id" };
    let values = json!([{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]);
    let option =
        json!({key: "model", "name": "Model", "type": "select", "currentValue": "a", "options": values});
    sets_option(&client, json!([option])).await.map_err(Stop::while_preparing)?;
    let request = sets_option(&client, json!([7, {"name": "no id"}, option])).await?;
    ensure!(request["params"]["value"] == "b", "the valid option is kept and can be set", "`{request}`");
    Ok(())
}

/// Makes the client set one of some options: its request.
async fn sets_option(client: &AcpClient, options: Value) -> Outcome<Value> {
    let script = client
        .script()
        .change("session/new", |opened| opened["configOptions"] = options)
        .leaves("session/set_config_option");
    let (mut run, _) = client.begin("set_config", json!({"option": "model", "value": "b"}), script).await?;
    run.agent.call("session/set_config_option").await
}

async fn null_is_an_empty_list(client: AcpClient) -> Outcome {
    let outcome = lists(&client, json!([])).await.map_err(Stop::while_preparing)?;
    if outcome.get("result").is_none() {
        return Err(Stop::inconclusive(format!("the client lists no sessions: `{outcome}`")));
    }
    let outcome = lists(&client, Value::Null).await?;
    ensure!(outcome.get("result").is_some(), "null is read as an empty list", "`{outcome}`");
    Ok(())
}

/// Makes the client list a session with additional directories: the outcome.
async fn lists(client: &AcpClient, directories: Value) -> Outcome<Value> {
    let session = json!({"sessionId": "session-1", "cwd": "/tmp", "additionalDirectories": directories});
    let script = client.script().on("session/list", json!({"sessions": [session]}));
    let (mut run, step) = client.begin("list_sessions", json!({}), script).await?;
    run.outcome(step).await
}
