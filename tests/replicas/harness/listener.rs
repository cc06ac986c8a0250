//! A subscription to the resource that changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::exchange::Position;
use crate::history::{Count, History};
use crate::modern::Modern;
use crate::session::{Session, borrowed};
use crate::wire::{Events, Reply, Wire, text};

/// The resource.
pub(crate) const WATCHED: &str = "replica://watched";
/// The pause before a broken listener tries again.
const PAUSE: Duration = Duration::from_millis(100);

/// The messages that a listener has received.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// How many changes.
    pub(crate) changes: AtomicU64,
    /// Whether its stream is open.
    pub(crate) is_open: AtomicBool,
}

/// A listener, which ends with this value.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) received: Arc<Received>,
    task: JoinHandle<()>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Listener {
    /// Listens to a session, with a stream of GET.
    pub(crate) fn of_session(session: &Session) -> Self {
        let received = Arc::<Received>::default();
        let (wire, headers, shared) = (session.wire.clone(), session.owned_headers(), received.clone());
        let task = tokio::spawn(async move {
            let mut position = Position::default();
            while listen(&wire, &headers, &mut position, &shared).await {
                shared.is_open.store(false, Ordering::SeqCst);
                sleep(position.retry).await;
            }
        });
        Self { received, task }
    }

    /// Listens without a session, with `subscriptions/listen`.
    pub(crate) fn modern(client: &Modern) -> Self {
        let received = Arc::<Received>::default();
        let (client, shared) = (client.clone(), received.clone());
        let task = tokio::spawn(async move {
            loop {
                if let Some(mut events) = client.listen(WATCHED).await {
                    while let Some(event) = events.next(&client.wire.history).await {
                        take(&event.data, &shared, &client.wire.history);
                    }
                }
                shared.is_open.store(false, Ordering::SeqCst);
                sleep(PAUSE).await;
            }
        });
        Self { received, task }
    }
}

/// Reads one response to GET. Returns false where the session has ended.
async fn listen(
    wire: &Wire,
    headers: &[(&'static str, String)],
    position: &mut Position,
    received: &Received,
) -> bool {
    let last = position.last.clone();
    let mut headers = borrowed(headers);
    headers.extend(last.as_deref().map(|last| ("last-event-id", last)));
    let Reply::Response(response) = wire.request(Method::GET, &headers, "").await else { return true };
    match response.status() {
        StatusCode::OK => (),
        // Nothing of the stream is stored: its node has died before that.
        StatusCode::BAD_REQUEST if position.last.is_some() => {
            position.last = None;
            return true;
        }
        status => {
            let why = text(response).await.unwrap_or_default();
            wire.history.lost(format!("GET of a session was answered {status}: {why}"));
            return false;
        }
    }
    received.is_open.store(true, Ordering::SeqCst);
    let mut events = Events::new(response);
    while let Some(event) = events.next(&wire.history).await {
        position.retry = event.retry.unwrap_or(position.retry);
        if let Some(id) = &event.id {
            position.note(id, &wire.history);
        }
        take(&event.data, received, &wire.history);
    }
    true
}

fn take(data: &str, received: &Received, history: &History) {
    let message: Value = serde_json::from_str(data).unwrap_or_default();
    match message["method"].as_str() {
        Some("notifications/resources/updated") => {
            history.count(Count::Changes);
            received.changes.fetch_add(1, Ordering::SeqCst);
        }
        Some("notifications/subscriptions/acknowledged") => received.is_open.store(true, Ordering::SeqCst),
        _ => (),
    }
}
