//! Checks of clients: the way from Streamable HTTP back to HTTP+SSE.

use std::time::Duration;

use serde_json::json;

use crate::check::{Check, HTTP, check};
use crate::fault::ClientRequest;
use crate::link::played_http::text;
use crate::mcp_client::McpClient;
use crate::mcp_client::host::Host;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(refused_post_leads_to_the_older_transport, HTTP),
    check!(other_failures_lead_nowhere, HTTP),
    check!(older_transport_speaks_the_first_revision, HTTP),
];

/// Whether a request opens a stream at the URL that the client was given.
pub(in crate::mcp_client) fn opens_stream(request: &ClientRequest) -> bool {
    request.method == "GET"
        && !request.target.starts_with("/.well-known")
        && request.header("accept").is_some_and(|accept| accept.contains("text/event-stream"))
}

/// Waits for the GET by which a client falls back; one that does not is not bound.
pub(in crate::mcp_client) async fn falls_back(host: &mut Host) -> Outcome {
    let Some(get) = host.within(Duration::from_secs(2), opens_stream).await? else {
        return Err(Stop::not_applicable("the client does not try the HTTP+SSE transport"));
    };
    ensure!(
        get.request.target == "/mcp",
        "GET to the URL of the refused POST, /mcp",
        "{}",
        text(&get.request)
    );
    host.answer(get).await
}

async fn refused_post_leads_to_the_older_transport(client: McpClient) -> Outcome {
    for status in [404, 405, 400] {
        let (mut driver, mut host) = client.older_host(status, "").await?;
        let step = driver.start("list_tools", json!({})).await?;
        falls_back(&mut host).await?;
        let is_first =
            |request: &ClientRequest| request.calls("initialize") && request.target.starts_with("/messages");
        let post =
            host.until("a POST of initialize to the endpoint of the older transport", is_first).await?;
        host.answer(post).await?;
        host.ok(&mut driver, step).await.map_err(Stop::while_preparing)?;
    }
    Ok(())
}

async fn other_failures_lead_nowhere(client: McpClient) -> Outcome {
    for status in [500, 403, 503, 0] {
        let (mut driver, mut host) = client.host().await?;
        let step = driver.start("list_tools", json!({})).await?;
        let until = client.setting.wait;
        // Each POST fails alike, also one that begins differently.
        let fails = async {
            while let Some(mut exchange) = host.within(until, |_| true).await? {
                if opens_stream(&exchange.request) {
                    return Err(Stop::failed(
                        format!("no attempt at the older transport after {}", failure(status)),
                        text(&exchange.request),
                    ));
                }
                match status {
                    0 => exchange.cut(),
                    status => exchange.status(status)?,
                }
            }
            Ok(())
        };
        tokio::select! {
            biased;
            found = fails => found?,
            outcome = driver.outcome(step, until) => drop(outcome.map_err(Stop::while_preparing)?),
        }
        let late = host.within(Duration::from_millis(100), opens_stream).await?;
        ensure!(
            late.is_none(),
            format!("no attempt at the older transport after {}", failure(status)),
            "{}",
            late.map(|exchange| text(&exchange.request)).unwrap_or_default()
        );
    }
    Ok(())
}

fn failure(status: u16) -> String {
    if status == 0 { "a lost connection".into() } else { format!("status {status}") }
}

async fn older_transport_speaks_the_first_revision(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.older_host(404, "").await?;
    let step = driver.start("list_tools", json!({})).await?;
    falls_back(&mut host).await?;
    let initialized = host.call("notifications/initialized").await?;
    host.answer(initialized).await?;
    host.ok(&mut driver, step).await.map(drop).map_err(Stop::while_preparing)
}
