//! Clients on this project's library.

use std::error::Error;
use std::iter;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentwire_mcp_client::schema::{ElicitResult, JsonObject, Revision};
use agentwire_mcp_client::{BoxError, CallError, Client, Era, RemoteServer};
use agentwire_transport_http::client::{Config, Http, HttpError};
use serde_json::json;
use tokio::time::sleep;

use crate::clients::{Shared, has_questions};
use crate::history::{Count, History, Outcome};
use crate::random::Random;
use crate::wire::Wire;

/// The pause before a client connects again, and after a call.
const PAUSE: Duration = Duration::from_millis(50);

/// Calls until the kills are over, and connects again where a connection ends.
pub(crate) async fn run(number: usize, wire: Wire, shared: Shared, mut random: Random) {
    let mut call = 0;
    while shared.is_load() {
        let connected = connect(number, &wire, &shared, &mut call, random.fork()).await;
        if let Err(error) = connected
            && status(&*error) == Some(404)
        {
            wire.history.lost(format!("own client {number}: its session is unknown: {error}"));
        }
        sleep(PAUSE).await;
    }
    shared.set_ready();
}

async fn connect(
    number: usize,
    wire: &Wire,
    shared: &Shared,
    call: &mut u64,
    mut random: Random,
) -> Result<(), BoxError> {
    let client = Client::new("replicas", "1");
    let client = match number % 3 {
        0 => client.era(Era::Legacy),
        2 if wire.history.promises().no_failure => client.revisions([Revision::V2024_11_05]),
        // A call whose stream is lost before it has an event id waits for its time-out, so without kills only.
        _ => client.era(Era::Auto),
    };
    let client = client.elicitation(|_| async {
        let mut content = JsonObject::new();
        content.insert("word".into(), json!("yes"));
        Ok(ElicitResult::accept(content))
    });
    let token = format!("Bearer token-of-{}", wire.principal);
    let config = Config::new(&format!("http://{}/mcp", wire.address))?.header("Authorization", token)?;
    let http: Http = config.retries(20).retry_delay(Duration::from_millis(200)).open()?;
    let connected = client.connect(http, async |server| {
        wire.history.count(Count::Sessions);
        while shared.is_load() {
            *call += 1;
            let key = format!("own{number}-{call}");
            let is_open = once(&server, &wire.history, &key, &mut random).await;
            if !is_open {
                break;
            }
            sleep(PAUSE).await;
        }
        Ok(())
    });
    Ok(connected.await?)
}

/// Calls one tool. Returns false where the connection has ended.
async fn once(server: &RemoteServer, history: &History, key: &str, random: &mut Random) -> bool {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let reported = steps.clone();
    let result = match random.below(3) {
        0 => server.call_tool("count", json!({ "key": key })).await,
        1 if has_questions(server.revision().as_str()) => {
            server.call_tool("ask", json!({ "key": key })).await
        }
        _ => {
            let call = server.call_tool("slow", json!({ "key": key, "steps": 5, "pause": 20 }));
            call.on_progress(move |report| {
                reported.lock().unwrap_or_else(PoisonError::into_inner).push(report.progress as u64);
            })
            .await
        }
    };
    let steps = std::mem::take(&mut *steps.lock().unwrap_or_else(PoisonError::into_inner));
    if steps.iter().zip(1..).any(|(step, expected)| *step != expected) {
        history.violation(format!("{key}: the steps came as {steps:?}"));
    }
    match result {
        Ok(result) => {
            if !result.text().starts_with(&format!("done {key}")) {
                history.violation(format!("{key}: the result is `{}`", result.text()));
            }
            history.call(key, Outcome::Acknowledged, "");
            true
        }
        Err(error) => {
            let is_refused = matches!(status(&error), Some(503 | 429));
            history.call(
                key,
                if is_refused { Outcome::Refused } else { Outcome::Unknown },
                &error.to_string(),
            );
            !matches!(error, CallError::Closed(_))
        }
    }
}

/// The status of the response that caused an error.
fn status(error: &(dyn Error + 'static)) -> Option<u16> {
    let mut causes = iter::successors(Some(error), |&error| error.source());
    causes.find_map(|cause| cause.downcast_ref::<HttpError>())?.status().map(|status| status.as_u16())
}
