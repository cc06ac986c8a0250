//! Checks of clients: caching.

use serde_json::{Value, json};

use super::McpClient;
use super::opened::{Opened, QUIET};
use crate::check::{ANY, Check, check};
use crate::fault::Fault;
use crate::faults;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!("CAC-03", results_belong_to_their_params, ANY, [
        "takes one resource for another" => loses(READ, 2),
        "mixes resources up" => faults::each_outcome(|o| if o.pointer("/result/contents").is_some() {
            o["result"]["contents"][0]["text"] = json!("test://one");
        }),
    ]),
    check!("CAC-04", answers_to_questions_are_not_kept, ANY, [
        "keeps an answer to a question" => loses(READ, 3),
    ]),
    check!("CAC-05", questions_are_not_kept, ANY, [
        "keeps a question" => loses(READ, 2),
    ]),
    check!("CAC-06", stale_lists_are_fetched, ANY, [
        "keeps a list without a time" => loses(LIST, 3),
        "keeps a list with a negative time" => loses(LIST, 5),
        "keeps a list with no time to live" => loses(LIST, 7),
    ]),
    check!("CAC-08", nothing_is_fetched_unasked, ANY, [
        "fetches a list that became stale" => faults::says_after_call(LIST, |m| {
            let mut again = m.clone();
            again["id"] = json!("again");
            vec![again]
        }),
    ]),
    check!("CAC-09", changes_make_lists_stale, ANY, [
        "keeps a list that has changed" => loses(LIST, 2),
    ]),
    check!("CAC-10", a_lost_cursor_begins_anew, ANY, [
        "stops at a lost cursor" => loses(LIST, 3),
        "goes on with the cursor" => {
            let mut lists = 0;
            faults::each_call(LIST, move |m| { lists += 1; if lists == 3 { m["params"]["cursor"] = json!("two") } })
        },
    ]),
];

const LIST: &str = "tools/list";
const READ: &str = "resources/read";

/// Loses one request of a method, by its number from 1 on.
fn loses(method: &'static str, number: usize) -> Box<dyn Fault> {
    let mut seen = 0;
    faults::each_call(method, move |message| {
        seen += 1;
        if seen == number {
            *message = Value::Null;
        }
    })
}

fn contents(client: &McpClient, uri: &str, ttl: i64) -> Value {
    let contents = json!([{"uri": uri, "text": uri}]);
    client.script().complete(READ, json!({"contents": contents, "ttlMs": ttl, "cacheScope": "private"}))
}

/// Takes the request of a read, with whether it repeats an earlier one.
async fn reading(opened: &mut Opened, uri: &str) -> Outcome<Value> {
    let request = opened.server.call(READ).await?;
    ensure!(request["params"]["uri"] == uri, format!("a request for {uri}"), "`{request}`");
    Ok(request)
}

async fn results_belong_to_their_params(client: McpClient) -> Outcome {
    let mut opened = client.connected(client.script().leaves(READ)).await?;
    for uri in ["test://one", "test://two"] {
        let step = opened.then("read_resource", json!({"uri": uri})).await?;
        let request = reading(&mut opened, uri).await?;
        opened.server.reply(&request, contents(&client, uri, 60_000)).await?;
        let read = opened.ok_of(step).await?;
        ensure!(read["contents"][0]["text"] == uri, format!("the text of {uri}"), "`{read}`");
    }
    Ok(())
}

/// Reads a resource twice, the first time with a retry; the second time begins anew.
async fn read_twice(client: &McpClient, ttl: i64) -> Outcome {
    let mut opened = client.connected(client.script().leaves(READ)).await?;
    let uri = "test://one";
    let step = opened.then("read_resource", json!({"uri": uri})).await?;
    let request = reading(&mut opened, uri).await?;
    let question = json!({"resultType": "input_required", "requestState": "state"});
    opened.server.reply(&request, question).await?;
    let retry = reading(&mut opened, uri).await?;
    opened.server.reply(&retry, contents(client, uri, ttl)).await?;
    opened.ok_of(step).await?;
    let step = opened.then("read_resource", json!({"uri": uri})).await?;
    let request = reading(&mut opened, uri).await?;
    let is_new = request["params"].get("requestState").is_none();
    ensure!(is_new, "a new request without the state of the old one", "`{request}`");
    opened.server.reply(&request, contents(client, uri, ttl)).await?;
    opened.ok_of(step).await.map(drop)
}

async fn answers_to_questions_are_not_kept(client: McpClient) -> Outcome {
    read_twice(&client, 60_000).await
}

async fn questions_are_not_kept(client: McpClient) -> Outcome {
    read_twice(&client, 0).await
}

fn tools(client: &McpClient, ttl: Option<i64>) -> Value {
    let mut result = client.script().result(LIST);
    match ttl {
        Some(ttl) => result["ttlMs"] = json!(ttl),
        None => drop(result.as_object_mut().map(|members| members.remove("ttlMs"))),
    }
    result
}

/// A client that has listed tools with a time to live.
async fn listed(client: &McpClient, ttl: Option<i64>) -> Outcome<Opened> {
    let script = client.script().leaves(LIST).leaves("subscriptions/listen");
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
    opened.ok_of(again).await?;
    Ok(!requests.iter().any(|arrived| arrived.message["method"] == LIST))
}

fn keeps_nothing() -> Stop {
    Stop::not_applicable("the client keeps no lists")
}

async fn stale_lists_are_fetched(client: McpClient) -> Outcome {
    if !is_kept(&mut listed(&client, Some(60_000)).await?).await? {
        return Err(keeps_nothing());
    }
    for ttl in [None, Some(-1), Some(0)] {
        let mut opened = listed(&client, ttl).await?;
        let again = opened.then("list_tools", json!({})).await?;
        let request = opened.server.call(LIST).await?;
        opened.server.reply(&request, tools(&client, ttl)).await?;
        opened.ok_of(again).await?;
    }
    Ok(())
}

async fn nothing_is_fetched_unasked(client: McpClient) -> Outcome {
    let mut opened = listed(&client, Some(50)).await?;
    let what = "no request for a list that nobody asked for";
    opened.server.silence(QUIET, what, |message| message["method"] != LIST).await
}

async fn changes_make_lists_stale(client: McpClient) -> Outcome {
    let mut opened = listed(&client, Some(60_000)).await?;
    if !is_kept(&mut opened).await? {
        return Err(keeps_nothing());
    }
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
    let again = opened.then("list_tools", json!({})).await?;
    let request = opened.server.call(LIST).await?;
    opened.server.reply(&request, tools(&client, Some(0))).await?;
    opened.ok_of(again).await.map(drop)
}

async fn a_lost_cursor_begins_anew(client: McpClient) -> Outcome {
    let (mut opened, request) = client.held().await?;
    let mut page = client.script().result(LIST);
    page["nextCursor"] = json!("two");
    opened.server.reply(&request, page).await?;
    let second = opened.server.call(LIST).await.map_err(Stop::while_preparing)?;
    opened.server.refuse(&second, -32602, "Invalid cursor").await?;
    let request = opened.server.call(LIST).await?;
    ensure!(request["params"].get("cursor").is_none(), "a request for the first page", "`{request}`");
    opened.release(&request).await.map(drop)
}
