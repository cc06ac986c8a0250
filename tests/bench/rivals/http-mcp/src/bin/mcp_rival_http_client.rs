//! The MCP client on rmcp over HTTP, with a `reqwest::Client` that keeps its connections (rmcp's own opens one for each call)
//! and as many concurrent requests allowed as are made.
//!
//! It takes a URL, a command and numbers; see our client of the same name.

use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, ProgressNotificationParam};
use rmcp::service::NotificationContext;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, Peer, RoleClient, ServiceExt};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Receives progress, and counts notifications that follow a later one.
#[derive(Clone, Default)]
struct Ear {
    heard: Arc<AtomicU64>,
    disorder: Arc<AtomicU64>,
    last: Arc<AtomicU64>,
}

impl ClientHandler for Ear {
    async fn on_progress(&self, report: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let step = report.progress as u64;
        let last = self.last.swap(step, Ordering::SeqCst);
        self.disorder.fetch_add(u64::from(step <= last), Ordering::SeqCst);
        self.heard.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, what, numbers @ ..] = &arguments[..] else { return Err("URL WHAT NUMBER...".into()) };
    let numbers: Vec<u64> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .max_concurrent_requests(64)
        .max_sse_event_size(64 << 20);
    let http = reqwest::Client::builder().tcp_nodelay(true).build()?;
    let ear = Ear::default();
    let client = ear.clone().serve(StreamableHttpClientTransport::with_client(http, config)).await?;
    match (what.as_str(), &numbers[..]) {
        ("echo", &[tasks, warm_up, measured]) => echo(client.peer(), tasks, warm_up, measured).await?,
        ("burst", &[calls, steps]) => burst(client.peer(), &ear, calls, steps).await?,
        ("big", &[bytes]) => big(client.peer(), bytes).await?,
        _ => return Err("echo TASKS WARM_UP_MS MEASURED_MS | burst CALLS STEPS | big BYTES".into()),
    }
    // Runs until the benchmark has read its memory.
    io::stdin().read_to_end(&mut Vec::new())?;
    client.cancel().await?;
    Ok(())
}

async fn call(server: &Peer<RoleClient>, tool: &'static str, arguments: Value) -> Outcome<String> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let result = server.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
    let text = result.content.first().and_then(|block| block.as_text()).ok_or("no text")?;
    Ok(text.text.clone())
}

async fn echo(server: &Peer<RoleClient>, tasks: u64, warm_up: u64, measured: u64) -> Outcome<()> {
    const TEXT: &str = "thirty-two bytes of plain ascii.";
    let (answered, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let mut callers = Vec::new();
    for _ in 0..tasks {
        let (server, answered, stop) = (server.clone(), answered.clone(), stop.clone());
        callers.push(tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                if call(&server, "echo", json!({ "text": TEXT })).await? != TEXT {
                    return Err("the echo is another".into());
                }
                answered.fetch_add(1, Ordering::Relaxed);
            }
            Outcome::Ok(())
        }));
    }
    tokio::time::sleep(Duration::from_millis(warm_up)).await;
    say("begin")?;
    let (before, begun) = (answered.load(Ordering::Relaxed), Instant::now());
    tokio::time::sleep(Duration::from_millis(measured)).await;
    let calls = answered.load(Ordering::Relaxed) - before;
    say(&format!("calls {calls} elapsed_ns {}", begun.elapsed().as_nanos()))?;
    stop.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await??;
    }
    Ok(())
}

async fn burst(server: &Peer<RoleClient>, ear: &Ear, calls: u64, steps: u64) -> Outcome<()> {
    say("begin")?;
    let begun = Instant::now();
    for call_number in 1..=calls {
        ear.last.store(0, Ordering::SeqCst);
        call(server, "burst", json!({ "n": steps })).await?;
        // A notification may arrive after the response.
        while ear.heard.load(Ordering::SeqCst) < call_number * steps {
            tokio::task::yield_now().await;
        }
    }
    let (heard, disorder) = (ear.heard.load(Ordering::SeqCst), ear.disorder.load(Ordering::SeqCst));
    say(&format!("events {heard} disorder {disorder} elapsed_ns {}", begun.elapsed().as_nanos()))
}

async fn big(server: &Peer<RoleClient>, bytes: u64) -> Outcome<()> {
    say("begin")?;
    let text = call(server, "big", json!({ "n": bytes })).await?;
    say(&format!("bytes {}", text.len()))
}

fn say(line: &str) -> Outcome<()> {
    Ok(writeln!(io::stdout(), "{line}")?)
}
