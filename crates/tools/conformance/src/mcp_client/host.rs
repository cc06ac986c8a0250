//! A server over HTTP whose requests a check takes one by one. It answers the others as a conformant server does.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::McpClient;
use super::script::Script;
use crate::conversation::Answers;
use crate::fault::ClientRequest;
use crate::link::events::Event;
use crate::link::played_http::{
    EventStream, Exchange, HeaderCase, HttpServer, error, is_modern, status_of, text,
};
use crate::requirements::revision::Revision;
use crate::subject::Transport;
use crate::subject::driver::{Driver, StepId};
use crate::verdict::{Outcome, Stop};

/// The session id that the server gives.
pub(crate) const SESSION: &str = "5b2c6c1e-conformance-0001";

/// The kind of server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerKind {
    /// Streamable HTTP with sessions.
    Session,
    /// Streamable HTTP since 2026-07-28.
    Modern,
    /// HTTP+SSE.
    Older,
}

/// A server for one client under test. The fields can be changed before the client connects.
pub(super) struct Host {
    pub(super) server: HttpServer,
    pub(super) kind: ServerKind,
    /// The session id that it gives.
    pub(super) session: Option<&'static str>,
    /// The status of the response to GET in a session, if it is not a stream.
    pub(super) listen_refusal: Option<u16>,
    /// The status of the answer to DELETE.
    pub(super) delete_status: u16,
    /// How an HTTP+SSE server answers POSTs to the URL of its stream.
    pub(super) refusal: (u16, &'static str),
    /// Where an HTTP+SSE server wants messages.
    pub(super) endpoint: String,
    /// How an HTTP+SSE server answers the POST of a message.
    pub(super) accepted: u16,
    /// Streams that GET has opened.
    pub(super) streams: Vec<EventStream>,
    /// Every request so far, also those that the check has taken.
    pub(super) seen: Vec<ClientRequest>,
    answers: Answers,
    wait: Duration,
}

impl McpClient {
    /// A server of this revision and transport, and the client that will connect to it.
    pub(super) async fn host(&self) -> Outcome<(Driver, Host)> {
        self.host_with(HeaderCase::Lower).await
    }

    pub(super) async fn host_with(&self, case: HeaderCase) -> Outcome<(Driver, Host)> {
        let server = HttpServer::listen(&self.setting, case).await?;
        let is_sse = self.setting.transport == Transport::Sse;
        let kind = match self.revision().is_legacy() {
            _ if is_sse => ServerKind::Older,
            true => ServerKind::Session,
            false => ServerKind::Modern,
        };
        let driver =
            Driver::new(&self.command, &self.setting, &server.url(if is_sse { "/sse" } else { "/mcp" }));
        let endpoint = server.path("/messages?session=1");
        let host = Host {
            server,
            kind,
            session: Some(SESSION),
            listen_refusal: None,
            delete_status: 200,
            refusal: (405, ""),
            endpoint,
            accepted: 202,
            streams: Vec::new(),
            seen: Vec::new(),
            answers: Box::new(self.script().answers()),
            wait: driver.patience(self.setting.wait),
        };
        Ok((driver, host))
    }

    /// A server of HTTP+SSE for a client that tries Streamable HTTP first, whose POSTs it refuses with a status and a text.
    pub(super) async fn older_host(&self, status: u16, body: &'static str) -> Outcome<(Driver, Host)> {
        let (driver, mut host) = self.host().await?;
        host.kind = ServerKind::Older;
        host.refusal = (status, body);
        host.script(Script::new(Revision::Mcp20241105));
        Ok((driver, host))
    }
}

/// The outcome of a step as text, to search in.
pub(super) fn words(outcome: &Value) -> String {
    outcome.to_string()
}

/// Begins a call of the tool `echo`.
pub(super) async fn start_call(driver: &mut Driver) -> Outcome<StepId> {
    start_call_of(driver, "echo", json!({"text": "hello"})).await
}

pub(super) async fn start_call_of(driver: &mut Driver, tool: &str, arguments: Value) -> Outcome<StepId> {
    driver.start("call_tool", json!({"tool": tool, "arguments": arguments})).await
}

impl Host {
    /// Sets the table of answers.
    pub(super) fn script(&mut self, script: Script) {
        self.answers = Box::new(script.answers());
    }

    /// The answer to a request, as a whole message.
    pub(super) fn response(&mut self, request: &Value) -> Value {
        let id = request.get("id").cloned().unwrap_or_default();
        match (self.answers)(request) {
            Some(Ok(result)) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Some(Err(error)) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
            None => error(&id, -32601, "Method not found"),
        }
    }

    /// Answers requests until one comes that the check wants.
    pub(super) async fn until(
        &mut self,
        what: &str,
        accept: impl FnMut(&ClientRequest) -> bool,
    ) -> Outcome<Exchange> {
        let wait = self.wait;
        let found = self.within(wait, accept).await?;
        found.ok_or_else(|| {
            Stop::failed(what, format!("none came within {} ms{}", wait.as_millis(), self.last()))
        })
    }

    /// The same with a time of the check's choice; nothing if none comes in that time.
    pub(super) async fn within(
        &mut self,
        time: Duration,
        mut accept: impl FnMut(&ClientRequest) -> bool,
    ) -> Outcome<Option<Exchange>> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Some(exchange) = self.server.next(left).await else {
                return Ok(None);
            };
            self.seen.push(exchange.request.clone());
            if accept(&exchange.request) {
                return Ok(Some(exchange));
            }
            self.answer(exchange).await?;
        }
    }

    /// Answers requests until a request or a notification of a method is posted.
    pub(super) async fn call(&mut self, method: &str) -> Outcome<Exchange> {
        self.until(&format!("a POST of {method}"), |request| request.calls(method)).await
    }

    /// Answers requests for a while.
    pub(super) async fn serve(&mut self, time: Duration) -> Outcome {
        self.within(time, |_| false).await.map(drop)
    }

    /// Answers requests until a step has an outcome.
    pub(super) async fn outcome(&mut self, driver: &mut Driver, step: StepId) -> Outcome<Value> {
        let wait = self.wait;
        let outcome = driver.outcome(step, wait);
        let serving = self.serve(wait * 2);
        tokio::select! {
            outcome = outcome => outcome,
            served = serving => match served {
                Ok(()) => Err(Stop::failed("the client's step ends", "it did not end in time")),
                Err(stop) => Err(stop),
            },
        }
    }

    /// Waits for a step that has to succeed: its result.
    pub(super) async fn ok(&mut self, driver: &mut Driver, step: StepId) -> Outcome<Value> {
        let mut outcome = self.outcome(driver, step).await?;
        match outcome.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => {
                let seen = format!("`{outcome}`{}", self.last());
                Err(Stop::failed("the client's step succeeds", seen))
            }
        }
    }

    /// Waits for a step that has to fail: its outcome.
    pub(super) async fn error(&mut self, driver: &mut Driver, step: StepId) -> Outcome<Value> {
        let outcome = self.outcome(driver, step).await?;
        match outcome.get("error") {
            Some(_) => Ok(outcome),
            None => Err(Stop::failed("the client's step fails", format!("`{outcome}`"))),
        }
    }

    /// Connects the client by a step that lists the tools.
    pub(super) async fn connect(&mut self, driver: &mut Driver) -> Outcome {
        let step = driver.start("list_tools", json!({})).await?;
        self.ok(driver, step).await.map(drop).map_err(Stop::while_preparing)
    }

    /// Makes the client end its session. One whose steps are commands has done so by itself.
    pub(super) async fn close(&mut self, driver: &mut Driver) -> Outcome {
        if driver.takes_steps() {
            let step = driver.start("close", json!({})).await?;
            self.ok(driver, step).await?;
        }
        Ok(())
    }

    /// Answers a request as a conformant server.
    pub(super) async fn answer(&mut self, mut exchange: Exchange) -> Outcome {
        let message = exchange.request.message();
        match (&self.kind, exchange.request.method.as_str(), message) {
            (ServerKind::Older, "GET", _) => self.open_older(&mut exchange).await,
            (ServerKind::Older, "POST", Some(message)) => self.answer_older(&mut exchange, message).await,
            (ServerKind::Session, "GET", _) => match self.listen_refusal {
                Some(status) => exchange.status(status),
                None => self.open(&mut exchange).await,
            },
            (ServerKind::Session, "DELETE", _) => exchange.status(self.delete_status),
            (ServerKind::Session, "POST", Some(message))
                if is_modern(&message) || message["method"] == "server/discover" =>
            {
                let body = error(&Value::Null, -32000, "Bad Request: no session id");
                exchange.json(400, &[], &body).await
            }
            (_, "POST", Some(message)) => self.reply(&mut exchange, &message).await,
            (_, "POST", None) => exchange.json(400, &[], &error(&Value::Null, -32700, "Parse error")).await,
            _ => exchange.respond(405, &[("allow", "POST")], b""),
        }
    }

    /// Answers a message with JSON, or accepts it.
    async fn reply(&mut self, exchange: &mut Exchange, message: &Value) -> Outcome {
        if message.get("id").is_none() || message.get("method").is_none() {
            return exchange.status(202);
        }
        let response = self.response(message);
        let session = self.session.filter(|_| message["method"] == "initialize");
        let headers: Vec<(&str, &str)> =
            session.map(|session| ("mcp-session-id", session)).into_iter().collect();
        exchange.json(status_of(message, &response), &headers, &response).await
    }

    async fn open(&mut self, exchange: &mut Exchange) -> Outcome {
        let stream = exchange.stream(&[])?;
        // A comment shows the client that the stream is open. A client that is done may be gone already.
        let _gone = stream.event(&Event { comments: vec!["open".into()], ..Event::default() }).await;
        self.streams.push(stream);
        Ok(())
    }

    async fn open_older(&mut self, exchange: &mut Exchange) -> Outcome {
        let stream = exchange.stream(&[])?;
        let (name, data) = (Some("endpoint".into()), self.endpoint.clone());
        // The client may be gone already.
        let _gone = stream.event(&Event { name, data, has_data: true, ..Event::default() }).await;
        self.streams.push(stream);
        Ok(())
    }

    async fn answer_older(&mut self, exchange: &mut Exchange, message: Value) -> Outcome {
        let Some(stream) = self.streams.last().filter(|_| is_message_path(&exchange.request.target)) else {
            return exchange.respond(self.refusal.0, &[], self.refusal.1.as_bytes());
        };
        exchange.status(self.accepted)?;
        if message.get("id").is_none() || message.get("method").is_none() {
            return Ok(());
        }
        // The client may have closed the stream.
        let id = message.get("id").cloned().unwrap_or_default();
        let response = match (self.answers)(&message) {
            Some(Ok(result)) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Some(Err(error)) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
            None => error(&id, -32601, "Method not found"),
        };
        let _closed = stream.message_as(&response, message_event()).await;
        Ok(())
    }

    /// The last request, for reports.
    pub(super) fn last(&self) -> String {
        self.seen
            .last()
            .map_or_else(String::new, |request| format!("; the last request was {}", text(request)))
    }
}

/// The fields of an event that carries a message.
pub(super) fn message_event() -> Event {
    Event { name: Some("message".into()), ..Event::default() }
}

/// An event with an id and empty data, from which a stream can be resumed.
pub(super) fn priming(id: &str) -> Event {
    Event { id: Some(id.into()), has_data: true, ..Event::default() }
}

fn is_message_path(target: &str) -> bool {
    target != "/sse" && target != "/mcp"
}
