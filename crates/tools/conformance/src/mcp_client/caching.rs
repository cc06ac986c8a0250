//! Checks of clients: caching.

use serde_json::{Value, json};

use super::McpClient;
use super::opened::{Opened, QUIET};
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!(results_belong_to_their_params, ANY),
    check!(answers_to_questions_are_not_kept, ANY),
    check!(questions_are_not_kept, ANY),
    check!(stale_lists_are_fetched, ANY),
    check!(nothing_is_fetched_unasked, ANY),
    check!(changes_make_lists_stale, ANY),
    check!(a_lost_cursor_begins_anew, ANY),
];

pub(crate) const LIST: &str = "tools/list";
const READ: &str = "resources/read";

fn contents(client: &McpClient, uri: &str, ttl: i64) -> Value {
    let contents = json!([{"uri": uri, "text": uri}]);
    client.script().complete(READ, json!({"contents": contents, "ttlMs": ttl, "cacheScope": "private"}))
}

/// Takes the request of a read.
async fn reading(opened: &mut Opened, uri: &str) -> Outcome<Value> {
    let what = format!("a request for {uri}");
    let is_it = |message: &Value| message["method"] == READ && message["params"]["uri"] == uri;
    opened.server.wanted(&what, is_it).await
}

async fn results_belong_to_their_params(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script().leaves(READ)).await?;
    let (one, two) = ("test://one", "test://two");
    let step = opened.then("read_resource", json!({"uri": one})).await?;
    let request = reading(&mut opened, one).await.map_err(Stop::while_preparing)?;
    opened.server.reply(&request, contents(&client, one, 60_000)).await?;
    opened.ok_of(step).await.map_err(Stop::while_preparing)?;

    let step = opened.then("read_resource", json!({"uri": two})).await?;
    let request = reading(&mut opened, two).await?;
    opened.server.reply(&request, contents(&client, two, 60_000)).await?;
    let read = opened.ok_of(step).await.map_err(Stop::while_preparing)?;
    ensure!(read["contents"][0]["text"] == two, format!("the text of {two}"), "`{read}`");
    Ok(())
}

/// Reads a resource with a retry, and begins to read it a second time.
async fn read_twice(client: &McpClient, ttl: i64) -> Outcome<Opened> {
    let mut opened = client.connected(client.script().leaves(READ)).await?;
    let uri = "test://one";
    let step = opened.then("read_resource", json!({"uri": uri})).await?;
    let preparing = async {
        let request = reading(&mut opened, uri).await?;
        let question = json!({"resultType": "input_required", "requestState": "state"});
        opened.server.reply(&request, question).await?;
        let retry = reading(&mut opened, uri).await?;
        opened.server.reply(&retry, contents(client, uri, ttl)).await?;
        opened.ok_of(step).await
    };
    preparing.await.map_err(Stop::while_preparing)?;
    opened.then("read_resource", json!({"uri": uri})).await?;
    Ok(opened)
}

async fn answers_to_questions_are_not_kept(client: McpClient) -> Outcome {
    let mut opened = read_twice(&client, 60_000).await?;
    reading(&mut opened, "test://one").await.map(drop)
}

/// A client that kept the question begins with the retry.
async fn questions_are_not_kept(client: McpClient) -> Outcome {
    let mut opened = read_twice(&client, 0).await?;
    let request = reading(&mut opened, "test://one").await.map_err(Stop::while_preparing)?;
    let is_new = request["params"].get("requestState").is_none();
    ensure!(is_new, "a new request, without the requestState of the earlier question", "`{request}`");
    Ok(())
}

fn tools(client: &McpClient, ttl: i64) -> Value {
    let mut result = client.script().result(LIST);
    result["ttlMs"] = json!(ttl);
    result
}

/// A client that has listed tools with a time to live.
async fn listed(client: &McpClient, ttl: i64) -> Outcome<Opened> {
    let script = client.script().leaves(LIST);
    let mut opened = client.open("list_tools", json!({}), script).await?;
    opened.takes_steps()?;
    let request = opened.server.call(LIST).await.map_err(Stop::while_preparing)?;
    opened.server.reply(&request, tools(client, ttl)).await?;
    opened.ok().await.map_err(Stop::while_preparing)?;
    Ok(opened)
}

/// Lists tools that the client may have kept: whether it did.
async fn is_kept(opened: &mut Opened) -> Outcome<bool> {
    let again = opened.then("list_tools", json!({})).await?;
    let requests = opened.server.listen(QUIET).await?;
    for arrived in requests.iter().filter(|arrived| arrived.message["method"] == LIST) {
        opened.server.reply(&arrived.message, opened.tools.clone()).await?;
    }
    opened.ok_of(again).await.map_err(Stop::while_preparing)?;
    Ok(!requests.iter().any(|arrived| arrived.message["method"] == LIST))
}

/// A client that has kept its list of tools.
async fn keeping(client: &McpClient) -> Outcome<Opened> {
    let mut opened = listed(client, 60_000).await?;
    if is_kept(&mut opened).await? {
        Ok(opened)
    } else {
        Err(Stop::not_applicable("the client keeps no lists"))
    }
}

/// Without a ttlMs a client may have a heuristic of its own.
async fn stale_lists_are_fetched(client: McpClient) -> Outcome {
    keeping(&client).await?;
    for ttl in [-1, 0] {
        let mut opened = listed(&client, ttl).await?;
        opened.then("list_tools", json!({})).await?;
        opened.server.call(LIST).await?;
    }
    Ok(())
}

async fn nothing_is_fetched_unasked(client: McpClient) -> Outcome {
    let mut opened = listed(&client, 50).await?;
    let what = "no request for a list only because its ttlMs has passed";
    opened.server.silence(QUIET, what, |message| message["method"] != LIST).await
}

async fn changes_make_lists_stale(client: McpClient) -> Outcome {
    let mut opened = keeping(&client).await?;
    let listen =
        opened.server.asked.iter().find(|request| request["method"] == "subscriptions/listen").cloned();
    let Some(listen) = listen else {
        return Err(Stop::not_applicable("the client does not listen to changes"));
    };
    let meta = json!({"io.modelcontextprotocol/subscriptionId": listen["id"]});
    let acknowledged = json!({"notifications": listen["params"]["notifications"], "_meta": meta});
    opened.server.notify("notifications/subscriptions/acknowledged", acknowledged).await?;
    opened.server.notify("notifications/tools/list_changed", json!({"_meta": meta})).await?;
    opened.heard("notifications/tools/list_changed").await?;
    opened.then("list_tools", json!({})).await?;
    opened.server.call(LIST).await.map(drop)
}

async fn a_lost_cursor_begins_anew(client: McpClient) -> Outcome {
    keeping(&client).await?;
    let (mut opened, request) = client.held().await?;
    let mut page = tools(&client, 60_000);
    page["nextCursor"] = json!("two");
    opened.server.reply(&request, page).await?;
    let second = opened.server.call(LIST).await.map_err(Stop::while_preparing)?;
    opened.server.refuse(&second, -32602, "Invalid cursor").await?;
    let request = opened.server.call(LIST).await?;
    ensure!(request["params"].get("cursor").is_none(), "a request for the first page", "`{request}`");
    Ok(())
}
