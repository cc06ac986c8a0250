//! Clients on rmcp for `cargo xtask replicas`: `mcp_rival_replicas URL TOKEN PREFIX MODE COUNT`. MODE is `legacy`.
//!
//! Each calls a tool until standard input ends, and prints a line for each call: its key, and `done`, `refused`, `gone` or
//! `unknown` with the reason.

use std::error::Error;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt};
use serde_json::json;
use tokio::time::{sleep, timeout};

/// The longest that a call may take.
const CALL_TIME: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, prefix, _mode, count] = &words[..] else {
        return Err("URL TOKEN PREFIX MODE COUNT".into());
    };
    let ended = Arc::new(AtomicBool::new(false));
    let end = ended.clone();
    std::thread::spawn(move || {
        _ = std::io::stdin().read_to_end(&mut Vec::new());
        end.store(true, Ordering::SeqCst);
    });
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..count.parse::<usize>()? {
        clients.spawn(run(url.clone(), token.clone(), format!("{prefix}{number}"), ended.clone()));
    }
    clients.join_all().await;
    Ok(())
}

async fn run(url: String, token: String, prefix: String, ended: Arc<AtomicBool>) {
    let mut call = 0;
    while !ended.load(Ordering::SeqCst) {
        let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).auth_header(token.as_str());
        match timeout(CALL_TIME, ().serve(StreamableHttpClientTransport::from_config(config))).await {
            Ok(Ok(server)) => {
                calls(&server, &prefix, &mut call, &ended).await;
                _ = server.cancel().await;
            }
            Ok(Err(error)) => eprintln!("connect: {error}"),
            Err(_) => eprintln!("connect: not within {CALL_TIME:?}"),
        }
        sleep(PAUSE).await;
    }
}

/// Calls until one fails otherwise than by a refusal.
async fn calls(server: &RunningService<RoleClient, ()>, prefix: &str, call: &mut u64, ended: &AtomicBool) {
    while !ended.load(Ordering::SeqCst) {
        *call += 1;
        let key = format!("{prefix}-{call}");
        let (name, arguments) = match *call % 3 {
            0 => ("slow", json!({ "key": key, "steps": 5, "pause": 20 })),
            _ => ("count", json!({ "key": key })),
        };
        let request = CallToolRequestParams::new(name)
            .with_arguments(arguments.as_object().cloned().unwrap_or_default());
        let why = match timeout(CALL_TIME, server.call_tool(request)).await {
            Ok(Ok(result)) => {
                let said = serde_json::to_value(&result).unwrap_or_default()["content"][0]["text"].clone();
                if said == format!("done {key}") {
                    println!("{key} done");
                } else {
                    println!("{key} wrong {said}");
                }
                sleep(PAUSE).await;
                continue;
            }
            Ok(Err(error)) => format!("{error:?}").replace('\n', " "),
            Err(_) => format!("no answer within {CALL_TIME:?}"),
        };
        if why.contains("503") || why.contains("429") {
            println!("{key} refused {why}");
            sleep(PAUSE).await;
        } else {
            println!("{key} {} {why}", if why.contains("404") { "gone" } else { "unknown" });
            return;
        }
    }
}
