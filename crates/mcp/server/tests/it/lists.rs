//! Lists in pages, and the log.

use agentwire_mcp_server::{NoArguments, Server, ServerTool};
use serde_json::{Value, json};

use crate::raw::{NEWEST, Raw, with_session};
use crate::subject::subject;

fn numbered(number: u32) -> ServerTool {
    ServerTool::new(format!("tool-{number}"), "", async |_: NoArguments, _cx| ())
}

fn many(page_size: usize) -> Server {
    (0..7).fold(Server::new("many", "1").page_size(page_size), |server, number| {
        server.with_tool(numbered(number))
    })
}

async fn page(raw: &mut Raw, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
    let result = raw.result_of("tools/list", params).await;
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let names = result["tools"].as_array().unwrap().iter().map(name).collect();
    (names, result["nextCursor"].as_str().map(str::to_owned))
}

#[tokio::test(start_paused = true)]
async fn pag_01_and_05_pages_follow_the_order_of_registration_and_cursors_are_stable() {
    with_session(&many(3), NEWEST, async |raw| {
        let (first, second) = page(raw, None).await;
        assert_eq!(first, ["tool-0", "tool-1", "tool-2"]);
        let second = second.unwrap();
        let (names, third) = page(raw, Some(&second)).await;
        assert_eq!(names, ["tool-3", "tool-4", "tool-5"]);
        assert_eq!(page(raw, Some(&second)).await, (names, third.clone()), "the same again");
        assert_eq!(page(raw, third.as_deref()).await, (vec!["tool-6".to_owned()], None));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn pag_04_a_cursor_of_somebody_elses_is_refused() {
    with_session(&many(3), NEWEST, async |raw| {
        for cursor in ["zzz", "", "tools-99", "tools-03", "tools--1", "prompts-3", "3"] {
            let code = raw.refusal_of("tools/list", json!({ "cursor": cursor })).await;
            assert_eq!(code, -32602, "{cursor}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_changes_between_two_pages_loses_and_repeats_nothing_else() {
    let server = many(3);
    with_session(&server, NEWEST, async |raw| {
        let (_, second) = page(raw, None).await;
        server.remove_tool("tool-3");
        server.add_tool(numbered(0));
        server.add_tool(numbered(7));
        assert_eq!(raw.next().await["method"], "notifications/tools/list_changed", "once for all of it");
        let (names, third) = page(raw, second.as_deref()).await;
        assert_eq!(names, ["tool-4", "tool-5", "tool-6"]);
        assert_eq!(page(raw, third.as_deref()).await, (vec!["tool-7".to_owned()], None));
        assert!(!server.remove_tool("tool-3"), "it is gone already");
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn resources_and_prompts_are_listed_too() {
    with_session(&subject(), NEWEST, async |raw| {
        let resources = raw.result_of("resources/list", json!({})).await;
        assert_eq!(
            resources["resources"][0],
            json!({ "uri": "memo:///motto", "name": "motto", "mimeType": "text/plain" })
        );
        let templates = raw.result_of("resources/templates/list", json!({})).await;
        assert_eq!(templates, json!({ "resourceTemplates": [] }));
        let prompts = raw.result_of("prompts/list", json!({})).await;
        assert_eq!(
            prompts["prompts"][0],
            json!({
                "name": "greet", "description": "Greet somebody",
                "arguments": [
                    { "name": "name", "description": "Whom to greet.", "required": true },
                    { "name": "tone" },
                ],
            })
        );
    })
    .await;
}

async fn logged(raw: &mut Raw) -> Vec<Value> {
    raw.request(1, "tools/call", json!({ "name": "chat" })).await;
    let mut lines = Vec::new();
    loop {
        let mut message = raw.next().await;
        if message["method"] != "notifications/message" {
            assert_eq!(message["id"], 1);
            return lines;
        }
        lines.push(message["params"].take());
    }
}

#[tokio::test(start_paused = true)]
async fn log_01_and_02_the_level_filters() {
    with_session(&subject(), NEWEST, async |raw| {
        let info = json!({ "level": "info", "logger": "chat", "data": "info" });
        let error = json!({ "level": "error", "data": ["error"] });
        assert_eq!(logged(raw).await, [info, error.clone()]);
        raw.result_of("logging/setLevel", json!({ "level": "error" })).await;
        assert_eq!(logged(raw).await, [error]);
        raw.result_of("logging/setLevel", json!({ "level": "debug" })).await;
        assert_eq!(logged(raw).await.len(), 3);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn log_03_invalid_level_is_refused() {
    with_session(&subject(), NEWEST, async |raw| {
        assert_eq!(raw.refusal_of("logging/setLevel", json!({ "level": "loud" })).await, -32602);
    })
    .await;
}
