//! Checks of servers: Streamable HTTP, request by request.

pub(super) mod http1;
pub(super) mod origins;
pub(super) mod posts;
pub(crate) mod resumption;
pub(super) mod sessions;
pub(crate) mod streams;
pub(super) mod versions;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Server, capabilities};
use crate::link::events::Event;
use crate::link::http::{HttpRequest, HttpResponse, HttpTarget};
use crate::link::stand_in::random_id;
use crate::link::streamable;
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop};

/// How long the suite watches a stream on which nothing should arrive.
pub(super) const QUIET: Duration = Duration::from_millis(300);

/// A session, or no more than an endpoint where there are none, as a check uses it request by request.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) target: HttpTarget,
    pub(super) revision: Revision,
    /// The session id that the server gave.
    pub(super) id: Option<String>,
    meta: Value,
}

impl Session {
    /// An endpoint to which nothing was sent.
    pub(super) async fn unopened(server: &Server) -> Outcome<Self> {
        let revision = server.revision();
        let meta = server.meta(capabilities(revision));
        Ok(Self { target: server.http().await?, revision, id: None, meta })
    }

    /// Opens a session, where the revision has them.
    pub(super) async fn open(server: &Server) -> Outcome<Self> {
        let opened = async {
            let mut session = Self::unopened(server).await?;
            if session.revision.is_legacy() {
                session.initialize(server, session.revision).await?;
                session.post(&initialized()).send().await?.bytes().await?;
            }
            Ok(session)
        };
        opened.await.map_err(Stop::while_preparing)
    }

    /// Sends `initialize` for a revision, and keeps the session id: the result.
    pub(super) async fn initialize(&mut self, server: &Server, revision: Revision) -> Outcome<Value> {
        let mut params = server.initialize(capabilities(revision));
        params["protocolVersion"] = json!(revision.as_str());
        let mut response = self.post(&self.message("initialize", "initialize", params)).send().await?;
        self.id = response.header("mcp-session-id").map(str::to_owned);
        let mut message = response.response(&json!("initialize")).await?;
        match message.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(Stop::failed("a result of initialize", format!("`{message}`"))),
        }
    }

    /// The session id; without one the check does not apply.
    pub(super) fn named(&self) -> Outcome<&str> {
        self.id.as_deref().ok_or_else(|| Stop::not_applicable("the server gives no session id"))
    }

    /// A request, with the `_meta` of revisions without sessions.
    pub(super) fn message(&self, id: &str, method: &str, mut params: Value) -> Value {
        if !self.revision.is_legacy() {
            params["_meta"] = self.meta.clone();
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// A request that every server answers with a result.
    pub(super) fn simple(&self, id: &str) -> Value {
        let method = if self.revision.is_legacy() { "ping" } else { "server/discover" };
        self.message(id, method, json!({}))
    }

    /// The POST of a message.
    pub(super) fn post(&self, message: &Value) -> HttpRequest {
        streamable::post(&self.target, self.revision, self.id.as_deref(), message)
    }

    /// A request without a body.
    pub(super) fn request(&self, method: &str) -> HttpRequest {
        streamable::with_session(self.target.request(method), self.revision, self.id.as_deref())
    }

    /// A GET for an event stream.
    pub(super) fn get(&self) -> HttpRequest {
        self.request("GET").header("accept", "text/event-stream")
    }

    /// The response to a request.
    pub(super) async fn ask(&self, message: &Value) -> Outcome<Value> {
        self.post(message).send().await?.response(&message["id"]).await
    }

    /// Fails unless the server answers a request with a result.
    pub(super) async fn works(&self, id: &str) -> Outcome {
        let message = self.ask(&self.simple(id)).await?;
        let has_result = message.get("result").is_some_and(Value::is_object) && message["id"] == id;
        if has_result { Ok(()) } else { Err(Stop::failed("a result", format!("`{message}`"))) }
    }

    /// The stream that answers a request; the check does not apply to servers that answer with JSON.
    pub(super) async fn stream(&self, message: &Value) -> Outcome<HttpResponse> {
        let response = self.post(message).send().await.map_err(Stop::while_preparing)?;
        if response.is_stream() {
            return Ok(response);
        }
        Err(Stop::not_applicable("the server answers with JSON, not with a stream"))
    }

    /// Opens the stream for messages that belong to no request; the check does not apply to servers without one.
    pub(super) async fn listen(&self) -> Outcome<HttpResponse> {
        let response = self.get().send().await.map_err(Stop::while_preparing)?;
        match response.status() {
            200 => Ok(response),
            405 => Err(Stop::not_applicable("the server offers no stream on GET")),
            status => Err(Stop::inconclusive(format!("the GET stream could not be opened: status {status}"))),
        }
    }

    /// Opens a stream again after the event with an id; the check does not apply to servers that refuse this.
    pub(super) async fn resume(&self, event_id: &str) -> Outcome<HttpResponse> {
        let request = self.get().header("last-event-id", event_id);
        let response = request.send().await.map_err(Stop::while_preparing)?;
        if response.status() == 200 && response.is_stream() {
            return Ok(response);
        }
        let status = response.status();
        Err(Stop::not_applicable(format!("the server resumes no stream: it answers with status {status}")))
    }

    /// Ends the session. How a server answers this breaks no requirement of the check that is done.
    pub(super) async fn end(&self) -> Outcome {
        if self.id.is_some() {
            let _refused = self.request("DELETE").send().await;
        }
        Ok(())
    }

    /// The call of a tool that plays a role, which reports its progress under a token.
    pub(super) fn call(&self, id: &str, mut tool: Value, token: Option<&str>) -> Value {
        if let Some(token) = token {
            tool["_meta"] = json!({"progressToken": token});
        }
        self.message(id, "tools/call", tool)
    }
}

/// The notification that ends the handshake.
pub(super) fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// A tool of the profile, with `{unique}` in its arguments replaced.
pub(super) fn unique_tool(server: &Server, role: &str, unique: &str) -> Outcome<Value> {
    let mut tool = server.tool(role)?;
    for argument in tool["arguments"].as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        if let Some(text) = argument.as_str() {
            *argument = json!(text.replace("{unique}", unique));
        }
    }
    Ok(tool)
}

/// A text that no other check uses.
pub(super) fn unique(prefix: &str) -> Outcome<String> {
    Ok(format!("{prefix}-{}", random_id()?))
}

/// The message of an event.
pub(super) fn message_of(event: &Event) -> Option<Value> {
    serde_json::from_str(&event.data).ok().filter(|_| event.is_message())
}

/// Why no more was read of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The response came.
    Response,
    /// The server closed the connection.
    Closed,
    /// No message came in time.
    Silence,
}

/// The events of a stream up to the response with an id, and why there are no more.
pub(super) async fn read_to_response(
    stream: &mut HttpResponse,
    within: Duration,
    id: &str,
) -> Outcome<(Vec<Event>, Ending)> {
    let mut until = Instant::now() + within;
    let mut events = Vec::new();
    loop {
        match stream.event_or_silence(until.saturating_duration_since(Instant::now())).await? {
            Some(Some(event)) => {
                if event.is_message() {
                    until = Instant::now() + within;
                }
                let is_last = has_response(&event, id);
                events.push(event);
                if is_last {
                    return Ok((events, Ending::Response));
                }
            }
            Some(None) => return Ok((events, Ending::Closed)),
            None => return Ok((events, Ending::Silence)),
        }
    }
}

/// The events of a stream up to one that a test accepts; fewer if the stream ends or nothing comes in time.
pub(super) async fn events_until(
    stream: &mut HttpResponse,
    within: Duration,
    mut last: impl FnMut(&Event) -> bool,
) -> Outcome<Vec<Event>> {
    let until = Instant::now() + within;
    let mut events = Vec::new();
    while let Some(Some(event)) =
        stream.event_or_silence(until.saturating_duration_since(Instant::now())).await?
    {
        let done = last(&event);
        events.push(event);
        if done {
            break;
        }
    }
    Ok(events)
}

/// The messages that arrive on a stream within a time.
pub(super) async fn messages_within(stream: &mut HttpResponse, time: Duration) -> Outcome<Vec<Value>> {
    Ok(events_until(stream, time, |_| false).await?.iter().filter_map(message_of).collect())
}

/// Whether a message is the response with an id.
pub(super) fn is_response(message: &Value, id: &str) -> bool {
    message.get("method").is_none() && message["id"] == id
}

/// Whether an event carries the response with an id.
pub(super) fn has_response(event: &Event, id: &str) -> bool {
    message_of(event).is_some_and(|message| is_response(&message, id))
}

/// The progress that a message reports under a token.
pub(super) fn progress_of(message: &Value, token: &str) -> Option<f64> {
    let params = message.get("params").filter(|_| message["method"] == "notifications/progress")?;
    params["progress"].as_f64().filter(|_| params["progressToken"] == token)
}
