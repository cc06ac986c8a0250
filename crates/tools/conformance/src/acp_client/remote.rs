//! Checks of clients: ACP over HTTP and WebSocket.

use std::time::Duration;

use serde_json::json;

use super::AcpClient;
use super::run::speaks;
use crate::check::{Check, HTTP, REMOTE, check};
use crate::fault::ClientRequest;
use crate::link::http::SUITE_COOKIE;
use crate::link::played_http::requests_in;
use crate::verdict::{Outcome, Stop, ensure};

/// How long a client may take to connect.
const START_TIME: Duration = Duration::from_secs(30);

pub(super) const CHECKS: &[Check<AcpClient>] = &[
    check!(reaches_agents_at_urls, REMOTE),
    check!(cookies_are_returned, HTTP),
    check!(the_version_is_named, HTTP),
];

/// The agent is at a URL of the transport that is judged.
async fn reaches_agents_at_urls(client: AcpClient) -> Outcome {
    let mut played = client.play().await?;
    played.driver.start("prompt", json!({"text": "hello"})).await?;
    // A client that begins no connection is waited for no longer than for a message where it was made to.
    let start = if client.setting.faults.is_none() { START_TIME } else { client.setting.wait };
    let mut agent = played.accept_within(start).await?;
    let initialize = agent.call("initialize").await?;
    speaks(client.revision(), &initialize)?;
    let script = client.script().leaves("session/prompt");
    let mut answers = script.answers();
    if let Some(Ok(result)) = answers(&initialize) {
        agent.reply(&initialize, result).await?;
    }
    agent.answer_with(answers);
    agent.call("session/prompt").await.map(drop)
}

/// The requests of a connection in which a prompt was sent, after `initialize`.
async fn requests(client: &AcpClient) -> Outcome<Vec<ClientRequest>> {
    let mut turn = client.prompted(client.script()).await?;
    turn.end_well().await.map_err(Stop::while_preparing)?;
    let requests = requests_in(&client.setting.trace).into_iter();
    let requests: Vec<_> = requests.filter(|request| request.header("acp-connection-id").is_some()).collect();
    for method in ["GET", "POST"] {
        if !requests.iter().any(|request| request.method == method) {
            return Err(Stop::inconclusive(format!("the client made no {method} after initialize")));
        }
    }
    Ok(requests)
}

fn shown(request: &ClientRequest) -> String {
    format!("{} {} with the headers {:?}", request.method, request.target, request.headers)
}

async fn cookies_are_returned(client: AcpClient) -> Outcome {
    for request in requests(&client).await? {
        let cookies = request.header("cookie").unwrap_or_default();
        let is_returned = cookies.split("; ").any(|cookie| cookie == SUITE_COOKIE);
        let what = format!("the cookie `{SUITE_COOKIE}` of the agent in each request");
        ensure!(is_returned, what, "{}", shown(&request));
    }
    Ok(())
}

async fn the_version_is_named(client: AcpClient) -> Outcome {
    for request in requests(&client).await? {
        let is_named = request.header("acp-protocol-version").is_some();
        ensure!(is_named, "`Acp-Protocol-Version` in each request after initialize", "{}", shown(&request));
    }
    Ok(())
}
