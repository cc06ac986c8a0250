//! Checks of clients: pagination.

use serde_json::{Value, json};

use super::McpClient;
use super::opened::Opened;
use crate::check::{ANY, Check, check};
use crate::fault::Fault;
use crate::faults;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!("PAG-01", every_page_of_every_list, ANY, [
        "stops after the first page of tools" => loses_page("tools/list"),
        "stops after the first page of resources" => loses_page("resources/list"),
        "stops after the first page of templates" => loses_page("resources/templates/list"),
        "stops after the first page of prompts" => loses_page("prompts/list"),
    ]),
    check!("PAG-02", an_empty_cursor_is_followed, ANY, [
        "takes an empty cursor for none" => faults::each_call("tools/list", |m| if m["params"]["cursor"] == "" {
            *m = Value::Null;
        }),
    ]),
    check!("PAG-03", cursors_come_back_unchanged, ANY, [
        "trims cursors" => faults::each_call("tools/list", |m| if let Some(cursor) = m["params"]["cursor"].as_str() {
            m["params"]["cursor"] = json!(cursor.trim());
        }),
        "escapes cursors" => faults::each_call("tools/list", |m| if let Some(cursor) = m["params"]["cursor"].as_str() {
            m["params"]["cursor"] = json!(cursor.replace('%', "%25"));
        }),
        "cuts long cursors" => faults::each_call("tools/list", |m| if let Some(cursor) = m["params"]["cursor"].as_str() {
            m["params"]["cursor"] = json!(cursor.chars().take(1024).collect::<String>());
        }),
    ]),
    check!("PAG-05", pages_may_have_any_size, ANY, [
        "takes an empty page for the last one" => faults::each_call("tools/list", |m| if m["params"]["cursor"] == "2" {
            *m = Value::Null;
        }),
        "loses items" => faults::each_outcome(|o| if o["result"].is_array() { o["result"] = json!([]) }),
    ]),
    check!("PAG-06", circles_of_cursors_end, ANY, [
        "follows a circle for ever" => faults::steps_hang(),
    ]),
];

fn loses_page(method: &'static str) -> Box<dyn Fault> {
    faults::each_call(method, |message| {
        if message["params"].get("cursor").is_some() {
            *message = Value::Null;
        }
    })
}

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

/// Plays the pages of a list, whose sizes are given, with a cursor after each but the last.
async fn play_pages(
    client: &McpClient,
    opened: &mut Opened,
    list: (&'static str, &str),
    sizes: &[usize],
    cursors: &[String],
) -> Outcome {
    let (method, member) = list;
    let mut number = 0;
    for (page, size) in sizes.iter().enumerate() {
        let request = opened.server.call(method).await?;
        let wanted = page.checked_sub(1).and_then(|before| cursors.get(before));
        let seen = request["params"].get("cursor");
        ensure!(
            seen.and_then(Value::as_str) == wanted.map(String::as_str),
            format!(
                "{method} with the cursor {}",
                wanted.map_or_else(|| "that is none".into(), |c| json!(c).to_string())
            ),
            "`{request}`"
        );
        let items: Vec<Value> = (number..number + size).map(|number| item(member, number)).collect();
        number += size;
        let mut result = client.script().result(method);
        result[member] = json!(items);
        if let Some(cursor) = cursors.get(page).filter(|_| page + 1 < sizes.len()) {
            result["nextCursor"] = json!(cursor);
        }
        opened.server.reply(&request, result).await?;
    }
    Ok(())
}

async fn every_page_of_every_list(client: McpClient) -> Outcome {
    let cursors = ["page two".to_owned(), "{\"offset\": 40}".to_owned()];
    for (step, method, member, key) in LISTS {
        let mut opened = match client.open(step, json!({}), client.script().leaves(method)).await {
            // A client need not have a step for each list.
            Err(Stop::NotApplicable(_)) if *step != "list_tools" => continue,
            other => other?,
        };
        play_pages(&client, &mut opened, (method, member), &[1, 1, 1], &cursors).await?;
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
    let mut opened = client.open("list_tools", json!({}), client.script().leaves("tools/list")).await?;
    play_pages(&client, &mut opened, ("tools/list", "tools"), &[1, 1], &[String::new()]).await?;
    opened.ok().await.map(drop)
}

/// The second conversation begins without the cursors of the first.
async fn cursors_come_back_unchanged(client: McpClient) -> Outcome {
    let cursors = [" eyJwIjoyfQ==\t".to_owned(), "%20/?&=+\"\\ü🦀".to_owned(), "x".repeat(4096)];
    for _ in 0..2 {
        let mut opened = client.open("list_tools", json!({}), client.script().leaves("tools/list")).await?;
        play_pages(&client, &mut opened, ("tools/list", "tools"), &[1, 1, 1, 1], &cursors).await?;
        opened.ok().await?;
    }
    Ok(())
}

async fn pages_may_have_any_size(client: McpClient) -> Outcome {
    let mut opened = client.open("list_tools", json!({}), client.script().leaves("tools/list")).await?;
    let cursors = ["1".to_owned(), "2".to_owned()];
    play_pages(&client, &mut opened, ("tools/list", "tools"), &[1, 0, 3], &cursors).await?;
    let listed = opened.ok().await?;
    if opened.takes_steps().is_ok() {
        let count = listed.as_array().map_or(0, Vec::len);
        ensure!(count == 4, "4 tools from pages of 1, 0 and 3", "`{listed}`");
    }
    Ok(())
}

/// Whether the client reports an error or what it has until then is up to it.
async fn circles_of_cursors_end(client: McpClient) -> Outcome {
    let mut result = client.script().result("tools/list");
    result["tools"] = json!([]);
    result["nextCursor"] = json!("again");
    let mut opened = client.open("list_tools", json!({}), client.script().on("tools/list", result)).await?;
    opened.outcome(opened.step).await.map(drop)
}
