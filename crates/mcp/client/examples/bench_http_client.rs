//! A client to measure, over HTTP. It prints `begin` when it does, then its results, and stays until its
//! standard input ends.
//!
//! ```text
//! bench_http_client URL echo TASKS WARM_UP_MS MEASURED_MS
//! bench_http_client URL burst CALLS STEPS
//! bench_http_client URL big BYTES
//! ```

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agentwire_mcp_client::{BoxError, RemoteServer, connect};
use agentwire_transport_http::client::Http;
use futures::future::try_join_all;
use serde_json::json;

const TEXT: &str = "thirty-two bytes of plain ascii.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, what, numbers @ ..] = &arguments[..] else { return Err("URL WHAT NUMBER...".into()) };
    let numbers: Vec<u64> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    connect(Http::new(url)?, async |server| {
        match (what.as_str(), &numbers[..]) {
            ("echo", &[tasks, warm_up, measured]) => echo(server, tasks, warm_up, measured).await?,
            ("burst", &[calls, steps]) => burst(server, calls, steps).await?,
            ("big", &[bytes]) => big(server, bytes).await?,
            _ => return Err("nothing that it can do".into()),
        }
        io::stdin().read_to_end(&mut Vec::new())?;
        Ok(())
    })
    .await?;
    Ok(())
}

/// Keeps as many calls in flight, and counts those that are answered in the time.
async fn echo(server: RemoteServer, tasks: u64, warm_up: u64, measured: u64) -> Result<(), BoxError> {
    let (answered, stop) = (Cell::new(0_u64), Cell::new(false));
    let callers = try_join_all((0..tasks).map(|_| async {
        while !stop.get() {
            let result = server.call_tool("echo", json!({ "text": TEXT })).await?;
            if result.text() != TEXT {
                return Err(BoxError::from("the echo is another"));
            }
            answered.set(answered.get() + 1);
        }
        Ok(())
    }));
    let watch = async {
        tokio::time::sleep(Duration::from_millis(warm_up)).await;
        say("begin")?;
        let (before, begun) = (answered.get(), Instant::now());
        tokio::time::sleep(Duration::from_millis(measured)).await;
        let calls = answered.get() - before;
        say(&format!("calls {calls} elapsed_ns {}", begun.elapsed().as_nanos()))?;
        stop.set(true);
        Ok(())
    };
    futures::try_join!(callers, watch)?;
    Ok(())
}

/// Counts the reports that are handled, and those that come right after a later one.
async fn burst(server: RemoteServer, calls: u64, steps: u64) -> Result<(), BoxError> {
    let (heard, disorder) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    say("begin")?;
    let begun = Instant::now();
    for _ in 0..calls {
        let (heard, disorder) = (heard.clone(), disorder.clone());
        let mut last = 0.0;
        let call = server.call_tool("burst", json!({ "n": steps })).on_progress(move |report| {
            heard.fetch_add(1, Ordering::Relaxed);
            disorder.fetch_add(u64::from(report.progress <= last), Ordering::Relaxed);
            last = report.progress;
        });
        call.await?;
    }
    let (heard, disorder) = (heard.load(Ordering::Relaxed), disorder.load(Ordering::Relaxed));
    say(&format!("events {heard} disorder {disorder} elapsed_ns {}", begun.elapsed().as_nanos()))
}

async fn big(server: RemoteServer, bytes: u64) -> Result<(), BoxError> {
    say("begin")?;
    let result = server.call_tool("big", json!({ "n": bytes })).await?;
    say(&format!("bytes {}", result.text().len()))
}

fn say(line: &str) -> Result<(), BoxError> {
    Ok(writeln!(io::stdout(), "{line}")?)
}
