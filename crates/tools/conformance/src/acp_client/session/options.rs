//! Modes and options of a session.

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::acp_client::plain::settings;
use crate::acp_client::run::{ClientRun, QUIET};
use crate::check::{ANY, Check, check};
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(sets_listed_modes, ANY),
    check!(sets_listed_values, ANY),
    check!(needs_no_category, ANY),
    check!(ignores_unknown_types, ANY),
];

/// Opens a session with settings by a first step that sets one of them: the request that sets it.
async fn set(
    client: &AcpClient,
    opened: impl FnOnce(&mut Value),
    step: &str,
    params: Value,
    method: &'static str,
) -> Outcome<(ClientRun, Value)> {
    let script = client.script().change("session/new", opened).leaves(method);
    let (mut run, _) = client.begin(step, params, script).await?;
    let request = run.agent.call(method).await?;
    Ok((run, request))
}

/// Tries a step, and returns the requests of a method that the client sends during the step.
async fn tried(run: &mut ClientRun, step: &str, params: Value, method: &str) -> Outcome<Vec<Value>> {
    if run.played.driver.takes_steps() {
        run.played.driver.start(step, params).await?;
        run.agent.serve(QUIET).await?;
    }
    Ok(run.agent.queued().filter(|message| message["method"] == method).cloned().collect())
}

async fn sets_listed_modes(client: AcpClient) -> Outcome {
    let settings = settings(client.revision());
    let (mut run, request) = set(&client, settings, "set_mode", json!({"mode": "code"}), "session/set_mode")
        .await
        .map_err(Stop::while_preparing)?;
    run.agent.reply(&request, json!({})).await?;
    let more = tried(&mut run, "set_mode", json!({"mode": "no-such-mode"}), "session/set_mode").await?;
    for request in std::iter::once(&request).chain(&more) {
        let is_listed = request["params"]["modeId"] == "ask" || request["params"]["modeId"] == "code";
        ensure!(is_listed, "a mode that the agent listed", "`{request}`");
    }
    Ok(())
}

/// Also covers V2-45.
pub(in crate::acp_client) async fn sets_listed_values(client: AcpClient) -> Outcome {
    let method = "session/set_config_option";
    let opened = settings(client.revision());
    let mut options = json!({});
    settings(client.revision())(&mut options);
    let answer = json!({"configOptions": options["configOptions"]});
    let params = json!({"option": "model", "value": "b"});
    let set = set(&client, opened, "set_config", params, method).await;
    let (mut run, first) = set.map_err(Stop::while_preparing)?;
    run.agent.reply(&first, answer.clone()).await?;
    let mut requests = vec![first];
    if run.played.driver.takes_steps() {
        run.played.driver.start("set_config", json!({"option": "fast", "value": true})).await?;
        let second = run.agent.call(method).await.map_err(Stop::while_preparing)?;
        run.agent.reply(&second, answer).await?;
        requests.push(second);
        requests.extend(
            tried(&mut run, "set_config", json!({"option": "model", "value": "no-such-value"}), method)
                .await?,
        );
    }
    for request in requests {
        let params = &request["params"];
        if params["configId"] == "fast" {
            let is_right = params["type"] == "boolean" && params["value"].is_boolean();
            ensure!(is_right, "a boolean with the type `boolean`", "`{request}`");
        } else {
            let is_listed = params["value"] == "a" || params["value"] == "b";
            ensure!(is_listed, "a value that the agent listed", "`{request}`");
            if client.revision() == Revision::Acp2 {
                ensure!(params["type"] == "id", "the type `id` of a selection", "`{request}`");
            }
        }
    }
    Ok(())
}

/// An option with two values.
fn option(client: &AcpClient, id: &str) -> Value {
    let key = if client.revision() == Revision::Acp2 { "configId" } else { "id" };
    let values = json!([{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]);
    json!({key: id, "name": "Option", "type": "select", "currentValue": "a", "options": values})
}

/// The request with which the client sets an option, if the agent has these options.
async fn set_one(client: &AcpClient, options: Value, id: &str) -> Outcome<(ClientRun, Value)> {
    let opened = |result: &mut Value| result["configOptions"] = options;
    let params = json!({"option": id, "value": "b"});
    set(client, opened, "set_config", params, "session/set_config_option").await
}

async fn needs_no_category(client: AcpClient) -> Outcome {
    let (mut known, mut odd) = (option(&client, "known"), option(&client, "odd"));
    known["category"] = json!("model");
    odd["category"] = json!("conformance_category");
    set_one(&client, json!([known]), "known").await.map_err(Stop::while_preparing)?;
    let options = json!([odd, option(&client, "none")]);
    for id in ["odd", "none"] {
        let (_run, request) = set_one(&client, options.clone(), id).await?;
        let what = format!("a request for the option `{id}`");
        ensure!(request["params"]["configId"] == id, what, "`{request}`");
    }
    Ok(())
}

async fn ignores_unknown_types(client: AcpClient) -> Outcome {
    let model = option(&client, "model");
    set_one(&client, json!([model]), "model").await.map_err(Stop::while_preparing)?;
    let mut slider = option(&client, "volume");
    slider["type"] = json!("slider");
    let (mut run, request) = set_one(&client, json!([slider, model]), "model").await?;
    run.agent.reply(&request, json!({"configOptions": [slider, model]})).await?;
    run.agent.serve(QUIET).await?;
    let more = run.agent.queued().filter(|message| message["method"] == "session/set_config_option");
    for request in std::iter::once(&request).chain(more) {
        let is_known = request["params"]["configId"] != "volume";
        ensure!(is_known, "no request for an option of an unknown type", "`{request}`");
    }
    Ok(())
}
