//! Checks of clients: pagination.

use serde_json::{Value, json};

use super::McpClient;
use super::opened::Opened;
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!(every_page_of_every_list, ANY),
    check!(an_empty_cursor_is_followed, ANY),
    check!(cursors_come_back_unchanged, ANY),
    check!(pages_may_have_any_size, ANY),
];

/// The step of each list, its method, the member with the items, and the key of an item.
const LISTS: &[(&str, &str, &str, &str)] = &[
    ("list_tools", "tools/list", "tools", "name"),
    ("list_resources", "resources/list", "resources", "uri"),
    ("list_templates", "resources/templates/list", "resourceTemplates", "uriTemplate"),
    ("list_prompts", "prompts/list", "prompts", "name"),
];

fn item(member: &str, number: usize) -> Value {
    match member {
        "tools" => json!({"name": format!("tool-{number}"), "inputSchema": {"type": "object"}}),
        "resources" => json!({"uri": format!("test://{number}"), "name": format!("resource-{number}")}),
        "resourceTemplates" => {
            json!({"uriTemplate": format!("test://{number}/{{x}}"), "name": format!("t-{number}")})
        }
        _ => json!({"name": format!("prompt-{number}")}),
    }
}

/// Plays the pages of a list, whose sizes are given, with a cursor after each but the last. Returns the cursors that the client
/// sent, and ends when the client fetches no further page.
async fn play_pages(
    client: &McpClient,
    opened: &mut Opened,
    list: (&'static str, &str),
    sizes: &[usize],
    cursors: &[&str],
) -> Outcome<Vec<Value>> {
    let (method, member) = list;
    let (mut number, mut seen) = (0, Vec::new());
    for (page, size) in sizes.iter().enumerate() {
        let request = match opened.server.call(method).await {
            Err(Stop::Failed(_)) if page > 0 => break,
            request => request.map_err(Stop::while_preparing)?,
        };
        if page > 0 {
            seen.push(request["params"]["cursor"].clone());
        }
        let items: Vec<Value> = (number..number + size).map(|number| item(member, number)).collect();
        number += size;
        let mut result = client.script().result(method);
        result[member] = json!(items);
        if let Some(cursor) = cursors.get(page) {
            result["nextCursor"] = json!(cursor);
        }
        opened.server.reply(&request, result).await?;
    }
    Ok(seen)
}

/// Plays the pages of the list of tools. A client that follows no cursor breaks PAG-01.
async fn play_tools(client: &McpClient, sizes: &[usize], cursors: &[&str]) -> Outcome<(Opened, Vec<Value>)> {
    let mut opened = client.open("list_tools", json!({}), client.script().leaves("tools/list")).await?;
    let seen = play_pages(client, &mut opened, ("tools/list", "tools"), sizes, cursors).await?;
    if seen.is_empty() {
        return Err(Stop::inconclusive("the client fetches one page only"));
    }
    Ok((opened, seen))
}

async fn every_page_of_every_list(client: McpClient) -> Outcome {
    let cursors = ["page two", "{\"offset\": 40}"];
    for (step, method, member, key) in LISTS {
        let mut opened = match client.open(step, json!({}), client.script().leaves(method)).await {
            // A client need not have a step for each list.
            Err(Stop::NotApplicable(_)) if *step != "list_tools" => continue,
            other => other?,
        };
        let seen = play_pages(&client, &mut opened, (method, member), &[1, 1, 1], &cursors).await?;
        let expected = format!("{method} for each of 3 pages");
        ensure!(seen.len() == cursors.len(), expected, "requests with the cursors {seen:?} after the first");
        let listed = opened.ok().await?;
        if opened.takes_steps().is_ok() {
            let count = listed
                .as_array()
                .map_or(0, |items| items.iter().filter(|item| item[key].is_string()).count());
            ensure!(count == 3, "the items of three pages", "`{listed}`");
        }
    }
    Ok(())
}

async fn an_empty_cursor_is_followed(client: McpClient) -> Outcome {
    let (_, seen) = play_tools(&client, &[1, 1, 1], &["two", ""]).await?;
    ensure!(seen.len() == 2, "a request for the page after an empty `nextCursor`", "none came");
    Ok(())
}

async fn cursors_come_back_unchanged(client: McpClient) -> Outcome {
    let long = "x".repeat(4096);
    let cursors = [" eyJwIjoyfQ==\t", "%20/?&=+\"\\ü🦀", &long];
    let (_, seen) = play_tools(&client, &[1, 1, 1, 1], &cursors).await?;
    for (seen, given) in seen.iter().zip(cursors) {
        ensure!(seen == given, format!("the cursor {}", json!(given)), "{seen}");
    }
    if seen.len() == cursors.len() { Ok(()) } else { Err(Stop::inconclusive("the client stopped early")) }
}

async fn pages_may_have_any_size(client: McpClient) -> Outcome {
    let (mut opened, seen) = play_tools(&client, &[1, 0, 3], &["1", "2"]).await?;
    ensure!(seen.len() == 2, "a request for the page after an empty one with a `nextCursor`", "none came");
    let listed = opened.ok().await?;
    if opened.takes_steps().is_ok() {
        let count = listed.as_array().map_or(0, Vec::len);
        ensure!(count == 4, "4 tools from pages of 1, 0 and 3", "`{listed}`");
    }
    Ok(())
}
