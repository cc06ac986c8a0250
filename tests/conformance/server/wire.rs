//! Tools for checks of the protocol itself: slow ones, ones whose effect can be asked for, and ones that report, ask or validate.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agentwire_mcp_server::schema::{JsonSchema as Schema, TaskSupport, Tool};
use agentwire_mcp_server::{Context, NoArguments, RawJson, Server, ServerTool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

/// The keys that were marked, for all connections.
#[derive(Clone, Default)]
struct Marks(Arc<Mutex<BTreeSet<String>>>);

impl Marks {
    fn add(&self, key: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
    }

    fn contain(&self, key: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}

pub(crate) fn offer(server: Server) -> Server {
    let marks = Marks::default();
    let [slow, mark] = [marks.clone(), marks.clone()];
    let subscribed = server.clone();
    server
        .tool(
            "wire_slow",
            "Marks a key after some time, unless it is cancelled",
            move |wait: Wait, _: Context| {
                let marks = slow.clone();
                async move {
                    sleep(Duration::from_millis(wait.ms.min(60_000))).await;
                    marks.add(wait.key);
                    "marked"
                }
            },
        )
        .tool("wire_mark", "Marks a key", move |Key { key }: Key, _: Context| {
            mark.add(key);
            async { "marked" }
        })
        .tool("wire_marks", "Says whether a key is marked", move |Key { key }: Key, _: Context| {
            let found = if marks.contain(&key) { "marked" } else { "not marked" };
            async move { found }
        })
        .tool("wire_progress", "Reports so many steps of progress", advance)
        .with_tool(
            ServerTool::new("wire_progress_task", "Reports steps of progress, as a task", advance)
                .task(TaskSupport::Optional),
        )
        .tool("wire_flood", "Makes 10,000 steps, and reports twenty times a second", flood)
        .tool("wire_pings", "Pings the client and waits for half a second", ping)
        .tool("wire_impatient", "Asks for the client's folders and waits for half a second", ask)
        .tool("wire_end_subscriptions", "Ends every subscription", move |_: NoArguments, _: Context| {
            subscribed.close_subscriptions();
            async { "ended" }
        })
        .with_tool(pair())
        .with_tool(foreign_dialect())
        .with_tool(remote_reference())
}

#[derive(Deserialize, JsonSchema)]
struct Wait {
    /// How long it takes, in milliseconds.
    ms: u64,
    key: String,
}

#[derive(Deserialize, JsonSchema)]
struct Key {
    key: String,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
    /// The time between two steps, in milliseconds.
    pause: u64,
}

async fn advance(Steps { steps, pause }: Steps, cx: Context) -> Result<&'static str, ToolError> {
    for step in 1..=steps {
        cx.progress(f64::from(step), Some(f64::from(steps)), Some("on the way")).await?;
        sleep(Duration::from_millis(pause)).await;
    }
    Ok("arrived")
}

async fn ask(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    match timeout(Duration::from_millis(500), cx.list_roots()).await {
        Ok(roots) => Ok(format!("The client works in {} folders", roots?.len())),
        Err(_) => Err(ToolError::new("The client did not answer")),
    }
}

async fn flood(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    let (steps, between) = (10_000, Duration::from_millis(50));
    let mut last = Instant::now();
    for step in 1..=steps {
        if last.elapsed() >= between {
            last = Instant::now();
            cx.progress(f64::from(step), Some(f64::from(steps)), None).await?;
        }
        if step % 1000 == 0 {
            sleep(Duration::from_millis(20)).await;
        }
    }
    Ok("arrived")
}

async fn ping(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    match timeout(Duration::from_millis(500), cx.client().ping()).await {
        Ok(Ok(_)) => Ok("The client is there"),
        _ => Err(ToolError::new("The client has left")),
    }
}

/// `prefixItems` means something in dialect 2020-12 only.
fn pair() -> ServerTool {
    let items =
        json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false});
    let schema = json!({"type": "object", "properties": {"pair": items}, "required": ["pair"]});
    raw("wire_pair", "Takes a number and a text", schema)
}

fn foreign_dialect() -> ServerTool {
    let schema = json!({"$schema": "https://example.com/dialect-of-nobody", "type": "object"});
    raw("wire_foreign_dialect", "Has a schema in a dialect that does not exist", schema)
}

/// The reference leads to a port that was free, where a check may listen.
fn remote_reference() -> ServerTool {
    static PORT: LazyLock<u16> = LazyLock::new(|| {
        let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        listener.expect("a port of this machine is free").port()
    });
    let place = json!({"$ref": format!("http://127.0.0.1:{}/place.json", *PORT)});
    let schema = json!({"type": "object", "properties": {"place": place}});
    raw("wire_remote_ref", "Has a schema that refers to another one", schema)
}

fn raw(name: &'static str, description: &'static str, schema: Value) -> ServerTool {
    let schema = Schema::try_from(schema).expect("the schema is an object");
    let tool = Tool::new(name, schema).description(description);
    ServerTool::from_definition(tool, |arguments: RawJson| async move {
        format!("Called with {}", arguments.as_str())
    })
}
