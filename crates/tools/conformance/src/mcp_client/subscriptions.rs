//! Checks of clients: subscriptions.

use serde_json::{Value, json};

use super::McpClient;
use super::opened::Opened;
use crate::check::{ANY, Check, HTTP, STDIO, check};
use crate::subject::driver::StepId;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!(notifications_find_their_subscription, HTTP),
    check!(notifications_on_stdio_find_their_subscription, STDIO),
    check!(a_subscription_is_cancelled, STDIO),
    check!(an_end_is_no_loss, ANY),
    check!(what_is_missing_is_reported, ANY),
];

const LISTEN: &str = "subscriptions/listen";

fn meta(request: &Value) -> Value {
    json!({"io.modelcontextprotocol/subscriptionId": request["id"]})
}

/// Begins a subscription, which the server acknowledges for some of what it names.
async fn listening(opened: &mut Opened, wanted: &Value, granted: &Value) -> Outcome<(StepId, Value)> {
    let step = opened.then("listen", json!({"notifications": wanted})).await?;
    // A client may have subscriptions of its own.
    let is_it =
        |message: &Value| message["method"] == LISTEN && message["params"]["notifications"] == *wanted;
    let request = opened.server.wanted(LISTEN, is_it).await.map_err(Stop::while_preparing)?;
    let acknowledged = json!({"notifications": granted, "_meta": meta(&request)});
    opened.server.notify("notifications/subscriptions/acknowledged", acknowledged).await?;
    opened.acknowledged(step).await?;
    Ok((step, request))
}

/// The second subscription gets two notifications, the first one.
async fn notifications_find_their_subscription(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script()).await?;
    let mut open = Vec::new();
    for uri in ["test://one", "test://two"] {
        let filter = json!({"resourceSubscriptions": [uri]});
        open.push((uri, listening(&mut opened, &filter, &filter).await?));
    }
    for number in [1, 0, 1] {
        let (uri, (_, request)) = &open[number];
        let params = json!({"uri": uri, "_meta": meta(request)});
        opened.server.notify("notifications/resources/updated", params).await?;
    }
    let counts = |changes: &[Value], step: StepId| {
        let updates = changes.iter().filter(|change| change["method"] == "notifications/resources/updated");
        updates.filter(|change| change["of"] == json!(step.number())).count()
    };
    for _ in 0..40 {
        let changes = opened.changes().await?;
        let seen: Vec<usize> = open.iter().map(|(_, (step, _))| counts(&changes, *step)).collect();
        if seen == [1, 2] {
            return Ok(());
        }
        opened.pause().await?;
    }
    let changes = json!(opened.changes().await?);
    Err(Stop::failed("1 update for the first subscription and 2 for the second", format!("`{changes}`")))
}

/// The same over the transport with a requirement of its own.
async fn notifications_on_stdio_find_their_subscription(client: McpClient) -> Outcome {
    notifications_find_their_subscription(client).await
}

async fn a_subscription_is_cancelled(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script()).await?;
    let filter = json!({"resourceSubscriptions": ["test://one"]});
    let (step, request) = listening(&mut opened, &filter, &filter).await?;
    opened.played.driver.cancel(step).await?;
    let cancelled = opened.server.call("notifications/cancelled").await?;
    let named = &cancelled["params"]["requestId"];
    ensure!(
        *named == request["id"],
        format!("the id {} of the subscription", request["id"]),
        "`{cancelled}`"
    );
    Ok(())
}

async fn an_end_is_no_loss(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script()).await?;
    let filter = json!({"resourceSubscriptions": ["test://one"]});
    let (step, request) = listening(&mut opened, &filter, &filter).await?;
    opened.server.reply(&request, json!({"resultType": "complete", "_meta": meta(&request)})).await?;
    opened.ok_of(step).await.map(drop)
}

async fn what_is_missing_is_reported(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script()).await?;
    let wanted = json!({"promptsListChanged": true, "resourceSubscriptions": ["test://one"]});
    let granted = json!({"resourceSubscriptions": ["test://one"]});
    let (step, _) = listening(&mut opened, &wanted, &granted).await?;
    let acknowledged = opened.acknowledged(step).await?;
    ensure!(
        acknowledged.get("promptsListChanged").is_none_or(|granted| *granted == json!(false)),
        "no `promptsListChanged` in the acknowledged filter that the client reports",
        "`{acknowledged}`"
    );
    Ok(())
}
