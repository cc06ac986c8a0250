//! A client's side of HTTP+SSE, the transport of MCP's first revision.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::http::{HttpResponse, HttpTarget};
use super::received::Received;
use crate::verdict::{Outcome, Stop};

/// The time limit of the event with the URL for messages.
const ENDPOINT_TIME: Duration = Duration::from_secs(10);

/// A conversation over HTTP+SSE. Dropping it closes the stream.
pub(crate) struct HttpSse {
    endpoint: HttpTarget,
    received: mpsc::Sender<Received>,
    /// Ends with this.
    _tasks: JoinSet<()>,
}

impl HttpSse {
    /// Opens the stream and waits for the endpoint.
    pub(crate) async fn open(target: &HttpTarget, received: mpsc::Sender<Received>) -> Outcome<Self> {
        let mut stream = target.request("GET").header("accept", "text/event-stream").send().await?;
        let reference = endpoint_of(&mut stream).await?;
        let endpoint = target.endpoint(&reference)?;
        let mut tasks = JoinSet::new();
        tasks.spawn(read(stream, received.clone()));
        Ok(Self { endpoint, received, _tasks: tasks })
    }

    /// The URL for POSTs.
    pub(crate) fn endpoint(&self) -> &HttpTarget {
        &self.endpoint
    }

    /// Posts a message and waits until the server has taken it, so that it gets what a check sends in its order.
    pub(crate) async fn send(&mut self, message: &Value) -> Outcome {
        let mut response = match self.endpoint.request("POST").json(message).send().await {
            Ok(response) => response,
            Err(stop) => return self.receive(Received::Broken(stop)).await,
        };
        super::received::forward(std::mem::take(&mut response.forged), &self.received).await;
        if (200..300).contains(&response.status()) {
            return Ok(());
        }
        let body = response.bytes().await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body).into_owned();
        self.receive(Received::Status { status: response.status(), body }).await
    }

    async fn receive(&self, received: Received) -> Outcome {
        self.received.send(received).await.map_err(|_| Stop::inconclusive("the conversation has ended"))
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
    super::received::forward_events(&mut stream, &received).await;
    // The check may have ended.
    let _received = received.send(Received::Closed).await;
}
