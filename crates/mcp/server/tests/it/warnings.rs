//! Warnings of calls that have no effect, because the server lacks a setting.

use std::sync::{Arc, Mutex};

use agentwire_mcp_server::schema::{LoggingLevel, TaskSupport};
use agentwire_mcp_server::{CallError, Context, Server, ServerTool, ServerWarning, Tasks};
use serde_json::json;

use crate::raw::{NEWEST, with_raw, with_session};

async fn report(cx: Context) -> Result<&'static str, CallError> {
    for _ in 0..2 {
        cx.log(LoggingLevel::Error, None, "twice").await?;
        cx.resource_updated("memo:///a");
    }
    Ok("reported")
}

fn server() -> (Server, Arc<Mutex<Vec<ServerWarning>>>) {
    let given = Arc::new(Mutex::new(Vec::new()));
    let receiver = given.clone();
    let tool = ServerTool::new("report", "", report).task(TaskSupport::Optional);
    let server = Server::new("subject", "1.0.0").with_tool(tool);
    (server.on_warning(move |warning| receiver.lock().unwrap().push(warning)), given)
}

async fn call_twice(server: &Server) {
    for _ in 0..2 {
        with_session(server, NEWEST, async |raw| drop(raw.call("report", json!({})).await)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn effect_that_lacks_a_setting_is_warned_of_once() {
    let (server, given) = server();
    call_twice(&server).await;
    let expected = [ServerWarning::NoTasks, ServerWarning::NoLogging, ServerWarning::NoResourceUpdates];
    assert_eq!(*given.lock().unwrap(), expected);
    server.resource_updated("memo:///a");
    assert_eq!(given.lock().unwrap().len(), 3);
    for (warning, setting) in
        expected.iter().zip(["`Server::tasks`", "`Server::logging`", "`Server::resource_updates`"])
    {
        assert!(warning.to_string().contains(setting), "{warning}");
    }
}

#[tokio::test(start_paused = true)]
async fn server_with_the_settings_warns_of_nothing() {
    let (server, given) = server();
    // The client's level is above it, which is not a fault of the author.
    let server = server
        .logging(LoggingLevel::Emergency)
        .resource_updates()
        .tasks(Tasks::new(|task| drop(tokio::spawn(task))));
    call_twice(&server).await;
    assert_eq!(*given.lock().unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn receiver_that_panics_fails_no_request() {
    let server = server().0.on_warning(|warning| panic!("as asked: {warning}"));
    with_raw(&server, async |raw| {
        let client = json!({ "name": "c", "version": "1", "icons": 9 });
        let params =
            json!({ "protocolVersion": NEWEST, "capabilities": { "roots": 7 }, "clientInfo": client });
        let answer = raw.ask("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], NEWEST, "{answer}");
    })
    .await;
    with_session(&server, NEWEST, async |raw| {
        let result = raw.call("report", json!({})).await;
        assert_eq!(result["content"][0]["text"], "reported", "{result}");
    })
    .await;
}
