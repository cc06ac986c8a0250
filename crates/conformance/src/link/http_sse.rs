//! A client's side of HTTP+SSE, the transport of MCP's first revision.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Received;
use super::http::{HttpResponse, HttpTarget};
use crate::verdict::{Outcome, Stop};

/// How long a server may take for the event that says where messages go.
const ENDPOINT_TIME: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(600);

/// A conversation over HTTP+SSE. Dropping it closes the stream.
pub(crate) struct HttpSse {
    endpoint: HttpTarget,
    received: mpsc::Sender<Received>,
    tasks: JoinSet<()>,
}

impl HttpSse {
    /// Opens the stream and waits for the endpoint.
    pub(crate) async fn open(target: &HttpTarget, received: mpsc::Sender<Received>) -> Outcome<Self> {
        let mut stream = target.request("GET").header("accept", "text/event-stream").send().await?;
        let reference = endpoint_of(&mut stream).await?;
        let endpoint = target.at(&reference)?;
        let mut tasks = JoinSet::new();
        tasks.spawn(read(stream, received.clone()));
        Ok(Self { endpoint, received, tasks })
    }

    /// Where messages are posted.
    pub(crate) fn endpoint(&self) -> &HttpTarget {
        &self.endpoint
    }

    pub(crate) fn send(&mut self, message: &Value) -> Outcome {
        let request = self.endpoint.request("POST").json(message);
        let received = self.received.clone();
        self.tasks.spawn(async move {
            let arrived = match request.send().await {
                Ok(response) if (200..300).contains(&response.status()) => return,
                Ok(mut response) => {
                    let body = response.bytes().await.unwrap_or_default();
                    Received::Status {
                        status: response.status(),
                        body: String::from_utf8_lossy(&body).into_owned(),
                    }
                }
                Err(stop) => Received::Broken(stop),
            };
            // The check may have ended.
            let _received = received.send(arrived).await;
        });
        Ok(())
    }
}

/// The reference in the event that has to come first.
pub(crate) async fn endpoint_of(stream: &mut HttpResponse) -> Outcome<String> {
    if stream.status() != 200 || !stream.is_stream() {
        let seen = format!("status {} and {:?}", stream.status(), stream.header("content-type"));
        return Err(Stop::failed("an event stream", seen));
    }
    loop {
        match stream.event(ENDPOINT_TIME).await? {
            Some(event) if event.name.as_deref() == Some("endpoint") => return Ok(event.data),
            Some(event) if event.has_data => {
                return Err(Stop::failed("`endpoint` as the first event", format!("`{}`", event.to_text())));
            }
            Some(_) => {}
            None => return Err(Stop::failed("`endpoint` as the first event", "the stream ended")),
        }
    }
}

async fn read(mut stream: HttpResponse, received: mpsc::Sender<Received>) {
    let number = stream.head.exchange;
    while let Ok(Some(Some(event))) = stream.event_or_silence(SILENCE).await {
        if !event.is_message() {
            continue;
        }
        let arrived = match serde_json::from_str(&event.data) {
            Ok(message) => Received::Message { message, stream: number, event_id: event.id },
            Err(_) => Received::Text(event.data.into_bytes()),
        };
        if received.send(arrived).await.is_err() {
            return;
        }
    }
    let _received = received.send(Received::Closed).await;
}
