//! A session of 2025-03-26 to 2025-11-25, and its calls, whose streams are resumed.

use std::time::{Duration, Instant};

use http::{Method, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::exchange::{Answer, Exchange, LastEvent, Position};
use crate::history::Count;
use crate::random::Random;
use crate::wire::{Events, Reply, Wire, text};

/// The longest that a call may take, with all resumptions.
const CALL_TIME: Duration = Duration::from_secs(60);
/// How long an answer to a question is tried. The node that asked may have died, which is known after 2 s.
const ANSWER_TIME: Duration = Duration::from_secs(40);
/// How long a session may go on at other nodes after its end.
const CLOSE_TIME: Duration = Duration::from_secs(15);
/// How many answers in a row show that a session is unknown at all nodes: each goes to another one.
const CLOSED_LOOKS: u32 = 12;

/// An open session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) wire: Wire,
    pub(crate) id: String,
    pub(crate) revision: &'static str,
    next: i64,
    random: Random,
}

impl Session {
    /// Opens a session. None: no node took it in time.
    pub(crate) async fn open(wire: &Wire, revision: &'static str, random: Random) -> Option<Self> {
        let mut session = Self { wire: wire.clone(), id: String::new(), revision, next: 1, random };
        let info = json!({ "name": "replicas", "version": "1" });
        let params =
            json!({ "protocolVersion": revision, "capabilities": { "elicitation": {} }, "clientInfo": info });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
        for _ in 0..20 {
            // A second session in place of one that was lost does no harm.
            let response = match wire.request(Method::POST, &[], &body).await {
                Reply::Response(response) => response,
                Reply::Lost => continue,
                Reply::Unavailable => return None,
            };
            let (status, id) = (response.status(), response.headers().get("mcp-session-id").cloned());
            let Some(answer) = text(response).await else { continue };
            let Some(id) = id.and_then(|id| id.to_str().map(str::to_owned).ok()) else {
                wire.history.violation(format!("initialize: {status} without a session: {answer}"));
                return None;
            };
            if !answer.contains("\"result\"") {
                continue;
            }
            session.id = id;
            session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
            wire.history.count(Count::Sessions);
            return Some(session);
        }
        None
    }

    pub(crate) fn headers(&self) -> Vec<(&'static str, &str)> {
        let mut headers = vec![("mcp-session-id", self.id.as_str())];
        // The header is newer than the others.
        if self.revision >= "2025-06-18" {
            headers.push(("mcp-protocol-version", self.revision));
        }
        headers
    }

    /// Sends a notification or a response, again until it is taken.
    async fn send(&self, message: &Value) {
        let (started, headers, message) = (Instant::now(), self.headers(), message.to_string());
        while started.elapsed() < ANSWER_TIME {
            // Refused also where the node that asks is dead, so this is not a measure of availability.
            match self.wire.request_within(ANSWER_TIME, Method::POST, &headers, &message).await.0 {
                Reply::Response(response) if response.status() == StatusCode::ACCEPTED => return,
                Reply::Response(response) if response.status() == StatusCode::NOT_FOUND => {
                    return self.wire.history.lost(format!("session {} is unknown", self.id));
                }
                Reply::Response(response) => {
                    let status = response.status();
                    let why = text(response).await.unwrap_or_default();
                    return self.wire.history.violation(format!("{message} was answered {status}: {why}"));
                }
                Reply::Lost => (),
                Reply::Unavailable => {
                    if !self.wire.history.was_away_since(started) {
                        let what = format!("{message} is refused for {ANSWER_TIME:?}");
                        self.wire.history.violation(what);
                    }
                    return;
                }
            }
        }
    }

    /// Calls a tool. With `may_cut` the client sometimes leaves the stream, and comes back.
    pub(crate) async fn tool(&mut self, name: &str, arguments: Value, may_cut: bool) -> Exchange {
        let token = self.next;
        let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": token } });
        self.call("tools/call", params, may_cut).await
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value, may_cut: bool) -> Exchange {
        let id = self.next;
        self.next += 1;
        let cut = (may_cut && self.random.percent(40)).then(|| self.random.below(4));
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let (mut exchange, mut position) = (Exchange::default(), Position::default());
        let reply = self.wire.request(Method::POST, &self.headers(), &body).await;
        let mut response = match reply {
            Reply::Response(response) => response,
            Reply::Lost => return Exchange::of(Answer::Lost),
            Reply::Unavailable => return Exchange::of(Answer::Refused),
        };
        let (started, mut cut) = (Instant::now(), cut);
        loop {
            if self.read(response, id, cut.take(), &mut exchange, &mut position).await {
                return exchange;
            }
            let Some(next) = self.resume(&mut position, started).await else {
                exchange.answer = Answer::Lost;
                return exchange;
            };
            response = next;
        }
    }

    /// Resumes a stream. `None` if it cannot be.
    async fn resume(&self, position: &mut Position, started: Instant) -> Option<Response<Incoming>> {
        let last = position.last.clone()?;
        while started.elapsed() < CALL_TIME {
            sleep(position.retry).await;
            let mut headers = self.headers();
            headers.push(("last-event-id", &last));
            match self.wire.request(Method::GET, &headers, "").await {
                Reply::Response(response) => {
                    self.wire.history.count(Count::Resumed);
                    return Some(response);
                }
                Reply::Lost => (),
                Reply::Unavailable => return None,
            }
        }
        self.wire.history.violation(format!("session {}: the stream of event {last} never ends", self.id));
        None
    }

    /// Reads a response. Returns true once the call is over, be it answered or not.
    async fn read(
        &self,
        response: Response<Incoming>,
        id: i64,
        cut: Option<u64>,
        exchange: &mut Exchange,
        position: &mut Position,
    ) -> bool {
        let history = &self.wire.history;
        let status = response.status();
        let is_stream =
            response.headers().get("content-type").is_some_and(|form| form == "text/event-stream");
        if status == StatusCode::NOT_FOUND {
            exchange.answer = Answer::Gone;
            return true;
        }
        if !is_stream {
            let body = text(response).await.unwrap_or_default();
            let message = serde_json::from_str(&body).unwrap_or_default();
            if status.is_success() && exchange.take(&message, id) {
                return true;
            }
            // An event of which the store has nothing: the node has died before it was stored.
            let is_unknown_event = status == StatusCode::BAD_REQUEST && position.last.is_some();
            if !is_unknown_event && !status.is_success() {
                history.violation(format!("session {}: {status}: {body}", self.id));
            }
            exchange.answer = Answer::Lost;
            return true;
        }
        let mut events = Events::new(response);
        let mut left = cut;
        loop {
            if let Some(left) = &mut left {
                if *left == 0 && position.last.is_some() {
                    history.count(Count::CutByClient);
                    return false;
                }
                *left = left.saturating_sub(1);
            }
            let Some(event) = events.next(history).await else { return false };
            position.retry = event.retry.unwrap_or(position.retry);
            let before = position.last.clone();
            if let Some(id) = &event.id {
                position.note(id, history);
            }
            if event.data.is_empty() {
                continue;
            }
            let Ok(message) = serde_json::from_str::<Value>(&event.data) else {
                history.violation(format!("an event is not JSON: {}", event.data));
                continue;
            };
            if message["method"] == "elicitation/create" {
                self.answer(&message["id"]).await;
            }
            if exchange.take(&message, id) {
                if event.id.is_none() {
                    history.count(Count::WithoutId);
                }
                exchange.event =
                    event.id.zip(before).map(|(id, before)| LastEvent { before, id, data: event.data });
                return true;
            }
        }
    }

    /// Answers a question.
    async fn answer(&self, id: &Value) {
        self.wire.history.count(Count::Answers);
        let result = json!({ "action": "accept", "content": { "word": "yes" } });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }

    /// Replays an answer that the client had.
    pub(crate) async fn replay(&self, event: &LastEvent) {
        let history = &self.wire.history;
        let mut headers = self.headers();
        headers.push(("last-event-id", &event.before));
        for _ in 0..5 {
            let Reply::Response(response) = self.wire.request(Method::GET, &headers, "").await else {
                continue;
            };
            let status = response.status();
            if status != StatusCode::OK {
                let why = text(response).await.unwrap_or_default();
                return history.lost(format!(
                    "session {}: event {} is not replayed: {status}: {why}",
                    self.id, event.id
                ));
            }
            let mut events = Events::new(response);
            while let Some(next) = events.next(history).await {
                if !next.data.is_empty() {
                    history.count(Count::Replayed);
                    if next.id.as_deref() != Some(&event.id) || next.data != event.data {
                        history.violation(format!("session {}: {event:?} is replayed as {next:?}", self.id));
                    }
                    return;
                }
            }
        }
        history.lost(format!("session {}: event {} is not replayed", self.id, event.id));
    }

    /// Ends the session, which each node knows a moment later: one that may have missed the message, once it has looked at the record.
    pub(crate) async fn close(self) {
        let headers = self.headers();
        let reply = self.wire.request(Method::DELETE, &headers, "").await;
        let Reply::Response(response) = reply else { return };
        if !response.status().is_success() {
            let status = response.status();
            return self.wire.history.lost(format!("session {}: DELETE was answered {status}", self.id));
        }
        let ping = json!({ "jsonrpc": "2.0", "id": self.next, "method": "ping" }).to_string();
        let (started, mut looks) = (Instant::now(), 0);
        while looks < CLOSED_LOOKS {
            match self.wire.request(Method::POST, &headers, &ping).await {
                Reply::Response(response) if response.status() == StatusCode::NOT_FOUND => looks += 1,
                // It shows nothing of the session.
                Reply::Lost => (),
                Reply::Unavailable => return,
                Reply::Response(_) if started.elapsed() < CLOSE_TIME => {
                    looks = 0;
                    sleep(Duration::from_millis(100)).await;
                }
                reply @ Reply::Response(_) => {
                    let history = &self.wire.history;
                    if !history.was_away_since(started) {
                        history.violation(format!("session {} goes on after its end: {reply:?}", self.id));
                    }
                    return;
                }
            }
        }
    }

    /// The headers, for a listener of its own.
    pub(crate) fn owned_headers(&self) -> Vec<(&'static str, String)> {
        self.headers().into_iter().map(|(name, value)| (name, value.to_owned())).collect()
    }
}

/// Headers that are borrowed.
pub(crate) fn borrowed<'a>(headers: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    headers.iter().map(|(name, value)| (*name, value.as_str())).collect()
}
