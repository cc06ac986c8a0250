//! Checks of clients: ping.

use serde_json::json;

use super::McpClient;
use crate::check::{ANY, Check, check};
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] =
    &[check!(pings_are_answered_at_any_time, ANY), check!(a_lost_ping_is_an_error, ANY)];

async fn pings_are_answered_at_any_time(client: McpClient) -> Outcome {
    let mut opened = client
        .open("list_tools", json!({}), client.script().leaves("initialize").leaves("tools/list"))
        .await?;
    let initialize = opened.server.call("initialize").await.map_err(Stop::while_preparing)?;
    // Over Streamable HTTP the client reads nothing but the response before the session has begun.
    let is_early = client.setting.transport != Transport::Http;
    for time in ["before initialize is answered", "after notifications/initialized"] {
        let is_before = time.starts_with("before");
        if is_early || !is_before {
            let result = opened.server.ok("ping", json!({})).await?;
            let is_empty =
                result.as_object().is_some_and(|members| members.keys().all(|name| name == "_meta"));
            ensure!(is_empty, format!("an empty result of a ping {time}"), "`{result}`");
        }
        if is_before {
            opened.server.reply(&initialize, client.script().result("initialize")).await?;
            opened.server.call("notifications/initialized").await.map_err(Stop::while_preparing)?;
            if !is_early {
                // The ping is sent on the stream of a POST. HTP-58 is about the GET stream.
                opened.server.call("tools/list").await.map_err(Stop::while_preparing)?;
            }
        }
    }
    Ok(())
}

async fn a_lost_ping_is_an_error(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script().leaves("ping")).await?;
    let step = opened.then("ping", json!({"timeout_ms": 300})).await?;
    opened.server.call("ping").await.map_err(Stop::while_preparing)?;
    opened.error_of(step).await.map(drop)
}
