//! Two servers on one engine: a task of one is watched, answered and cancelled at the other.

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_redis::RedisStore;
use agentwire_mcp_schema::TaskSupport;
use agentwire_mcp_server::{Context, Form, NoArguments, Server, ServerTool, Tasks, ToolError, field};
use agentwire_store::{Node, Stores};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};

use crate::engine::Engine;

async fn ask(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let form = Form::new("Who are you?").required("name", field::text());
    let answer = cx.elicit("name", form).await?.accepted();
    Ok(answer.map_or("nobody".to_owned(), |answer| format!("Hello {}", answer["name"])))
}

/// A client of a server that is a node.
struct Client {
    node: Node,
    wire: Duplex,
}

impl Client {
    async fn of(store: RedisStore) -> Self {
        let store = Arc::new(store);
        let node = Node::join(Stores::of(&store)).await.unwrap();
        let tasks = Tasks::new(|work| drop(tokio::spawn(work))).store(store);
        let required = |tool: ServerTool| tool.task(TaskSupport::Required);
        let deaf = async |_: NoArguments, _: Context| std::future::pending::<String>().await;
        let server = Server::new("subject", "1.0.0")
            .tasks(tasks)
            .with_tool(required(ServerTool::new("ask", "Ask for a name", ask)))
            .with_tool(required(ServerTool::new("deaf", "Wait for ever", deaf)))
            .node(node.clone());
        let (wire, far) = duplex(16);
        tokio::spawn(async move { server.serve(far).await });
        tokio::spawn({
            let node = node.clone();
            async move { node.run(|| tokio::time::sleep(Duration::from_millis(100))).await }
        });
        Self { node, wire }
    }

    async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": { "form": {} },
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
        });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.wire.send(Packet::from_json(&request.to_string())).await.unwrap();
        let packet = self.wire.next().await.unwrap().unwrap();
        let mut answer: Value = serde_json::from_str(&packet.into_json().unwrap()).unwrap();
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].take()
    }

    async fn start(&mut self, tool: &str) -> String {
        let task = self.ask("tools/call", json!({ "name": tool, "arguments": {} })).await;
        task["taskId"].as_str().unwrap().to_owned()
    }

    async fn until(&mut self, id: &str, status: &str) -> Value {
        for _ in 0..2000 {
            let task = self.ask("tasks/get", json!({ "taskId": id })).await;
            if task["status"] == status {
                return task;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("the task never is {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn task_of_one_server_is_answered_and_cancelled_at_another() {
    let engine = Engine::start().await;
    let store =
        async || RedisStore::connect(engine.config().lease(Duration::from_millis(900))).await.unwrap();
    let [mut one, mut two] = [Client::of(store().await).await, Client::of(store().await).await];

    let id = one.start("ask").await;
    two.until(&id, "input_required").await;
    let answer = json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
    two.ask("tasks/update", json!({ "taskId": id, "inputResponses": answer })).await;
    let done = two.until(&id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello \"Ada\"");

    let id = one.start("deaf").await;
    two.ask("tasks/cancel", json!({ "taskId": id })).await;
    two.until(&id, "cancelled").await;
    one.until(&id, "cancelled").await;

    // Of several that find a dead node, one ends its task.
    let id = one.start("deaf").await;
    two.until(&id, "working").await;
    one.node.release().await.unwrap();
    let failed = two.until(&id, "failed").await;
    assert_eq!(failed["error"]["message"], "internal error: the server that ran the task has ended");
    assert!(two.node.is_dead(one.node.id()).await.unwrap());
}
