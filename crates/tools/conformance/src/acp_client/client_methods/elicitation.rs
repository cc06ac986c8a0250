//! Input that a client asks its user for.

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::acp_client::AcpClient;
use crate::acp_client::run::{PromptTurn, QUIET};
use crate::acp_messages::is_integer;
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(refuses_other_modes, ANY),
    check!(validates_forms, ANY),
    check!(ignores_unknown_completions, ANY),
    check!(fetches_no_url, ANY),
    check!(knows_no_unknown_modes, ANY),
];

/// The user may never answer.
async fn asks(turn: &mut PromptTurn, params: Value) -> Outcome<Value> {
    turn.ask("elicitation/create", params).await.map_err(Stop::while_preparing)
}

fn form(schema: Value) -> Value {
    json!({"message": "A question", "mode": "form", "requestedSchema": schema})
}

fn url(url: &str) -> Value {
    json!({"message": "A page", "mode": "url", "elicitationId": "elicitation-1", "url": url})
}

fn name_schema() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string", "default": "x"}}, "required": ["name"]})
}

async fn refuses_other_modes(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    if !turn.run.advertises("/elicitation") {
        return Err(Stop::not_applicable("the client does not advertise elicitation"));
    }
    let mut modes = vec![json!({"message": "A question", "mode": "_conformance"})];
    if !turn.run.advertises("/elicitation/form") {
        modes.push(form(name_schema()));
    }
    if !turn.run.advertises("/elicitation/url") {
        modes.push(url("https://example.com/"));
    }
    for params in modes {
        let response = turn.ask("elicitation/create", params.clone()).await?;
        if params["mode"] == "_conformance" && response["result"]["action"] == "accept" {
            // This is the concern of EL-18.
            return Err(Stop::inconclusive("the client accepts a mode that it cannot know"));
        }
        let what = "an error with the code -32602 for a mode that the client did not advertise";
        ensure!(response["error"]["code"] == -32602, what, "`{response}`");
    }
    Ok(())
}

async fn validates_forms(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.run.needs("/elicitation/form")?;
    let schema = json!({"type": "object", "required": ["size", "count"], "properties": {
        "size": {"type": "string", "enum": ["s", "m"]},
        "count": {"type": "integer", "minimum": 2, "maximum": 4, "default": 3},
    }});
    let response = asks(&mut turn, form(schema)).await?;
    let result = &response["result"];
    if result["action"] == "accept" {
        let content = &result["content"];
        let is_size = content["size"] == "s" || content["size"] == "m";
        let count = &content["count"];
        let is_count = is_integer(count) && count.as_f64().is_some_and(|count| (2.0..=4.0).contains(&count));
        ensure!(is_size && is_count, "values that the requested schema allows", "`{content}`");
    }
    Ok(())
}

async fn ignores_unknown_completions(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.run.is_alive().await.map_err(Stop::while_preparing)?;
    if turn.run.advertises("/elicitation/url") {
        asks(&mut turn, url("https://example.com/")).await?;
        turn.run.agent.notify("elicitation/complete", json!({"elicitationId": "elicitation-1"})).await?;
        turn.run.agent.notify("elicitation/complete", json!({"elicitationId": "elicitation-1"})).await?;
    }
    turn.run.agent.notify("elicitation/complete", json!({"elicitationId": "never-made"})).await?;
    turn.run.is_alive().await
}

async fn fetches_no_url(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.run.needs("/elicitation/url")?;
    let no_port = |error| Stop::inconclusive(format!("no port: {error}"));
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(no_port)?;
    let address = listener.local_addr().map_err(no_port)?;
    // A user who can be made to wait agrees to nothing.
    let _held = turn.run.attempt("hold", json!({})).await;
    let id = turn.start("elicitation/create", url(&format!("http://{address}/page"))).await?;
    turn.run.agent.serve(QUIET).await?;
    if tokio::time::timeout(QUIET, listener.accept()).await.is_err() {
        return Ok(());
    }
    let response = turn.run.agent.response(&id).await;
    if response.is_ok_and(|response| response["result"]["action"] == "accept") {
        return Err(Stop::inconclusive("the URL was opened, and the user agrees to that"));
    }
    Err(Stop::failed("no connection to the host of a URL to which the user does not agree", "one"))
}

async fn knows_no_unknown_modes(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    let mut request = form(name_schema());
    request["mode"] = json!("_conformance");
    let response = asks(&mut turn, request).await?;
    ensure!(response["result"]["action"] != "accept", "no acceptance of an unknown mode", "`{response}`");
    Ok(())
}
