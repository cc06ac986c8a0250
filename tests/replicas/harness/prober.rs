//! A principal that tries the sessions of others.

use std::sync::PoisonError;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::json;
use tokio::time::sleep;

use crate::clients::Shared;
use crate::history::Count;
use crate::random::Random;
use crate::wire::Wire;

/// Tries sessions of others, one after the other, until the task is ended. Each must be unknown to it.
pub(crate) async fn run(wire: Wire, shared: Shared, mut random: Random) {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    loop {
        sleep(random.millis(5, 40)).await;
        let session = {
            let sessions = shared.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            random.pick(&sessions).cloned()
        };
        let Some((_, id)) = session.filter(|(principal, _)| *principal != wire.principal) else { continue };
        let headers = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2025-11-25")];
        let (method, body) = match random.below(4) {
            0 => (Method::GET, ""),
            1 => (Method::DELETE, ""),
            _ => (Method::POST, ping.as_str()),
        };
        wire.history.count(Count::Probes);
        let Some(response) = wire.once(&method, &headers, body).await else { continue };
        // Away: it cannot be said whose session it is.
        let is_away = matches!(
            response.status(),
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY | StatusCode::TOO_MANY_REQUESTS
        );
        if response.status() != StatusCode::NOT_FOUND && !is_away {
            let status = response.status();
            wire.history
                .violation(format!("{method} of another principal's session {id} was answered {status}"));
            sleep(Duration::from_secs(1)).await;
        }
    }
}
