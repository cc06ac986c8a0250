//! Optional members and items that cannot be read.

use serde_json::{Value, json};

use super::AcpClient;
use super::mutants;
use super::run::permission;
use crate::check::{ANY, Check, check};
use crate::faults;
use crate::revision::Revision;
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<AcpClient>] = &[
    check!("RPC-19", reads_around_malformed_members, ANY, [
        "refuses the whole request" => mutants::always_fails("session/request_permission", -32602),
        "refuses the agent's greeting" => faults::each_call("session/prompt", |message| *message = Value::Null),
    ]),
    check!("RPC-20", drops_invalid_items, ANY, [
        "drops the whole list" => faults::each_call("session/set_config_option", |message| *message = Value::Null),
    ]),
    check!("RPC-21", null_is_an_empty_list, ANY, [
        "refuses a page with null" => faults::each_call("session/list", |message| {
            if message["params"]["cursor"].is_string() {
                *message = Value::Null;
            }
        }),
    ]),
];

async fn reads_around_malformed_members(client: AcpClient) -> Outcome {
    let is_second = client.revision() == Revision::Acp2;
    let script = client.script().change("initialize", |greeting| {
        greeting["authMethods"] = json!("none");
        if !is_second {
            greeting["agentInfo"] = json!(7);
        }
    });
    let (mut run, _) =
        client.begin("prompt", json!({"text": "hello"}), script.leaves("session/prompt")).await?;
    run.first("session/prompt").await?;
    let mut request = permission(client.revision(), "call-1");
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
    let options = json!([7, {"name": "no id"}, option]);
    let script = client
        .script()
        .change("session/new", |opened| opened["configOptions"] = options)
        .leaves("session/set_config_option");
    let (mut run, _) = client.begin("set_config", json!({"option": "model", "value": "b"}), script).await?;
    let request = run.agent.call("session/set_config_option").await?;
    ensure!(request["params"]["value"] == "b", "the valid option is kept and can be set", "`{request}`");
    Ok(())
}

async fn null_is_an_empty_list(client: AcpClient) -> Outcome {
    let script = client.script().leaves("session/list");
    let (mut run, step) = client.begin("list_sessions", json!({}), script).await?;
    let first = run.agent.call("session/list").await.map_err(crate::verdict::Stop::while_preparing)?;
    let session = json!({"sessionId": "session-1", "cwd": "/tmp", "additionalDirectories": null});
    run.agent.reply(&first, json!({"sessions": [session], "nextCursor": "page-2"})).await?;
    let second = run.agent.call("session/list").await?;
    run.agent.reply(&second, json!({"sessions": []})).await?;
    let outcome = run.outcome(step).await?;
    ensure!(outcome.get("result").is_some(), "a page with null for a list is read", "`{outcome}`");
    Ok(())
}
