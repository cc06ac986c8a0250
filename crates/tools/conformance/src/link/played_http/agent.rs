//! A conformant agent over HTTP or WebSocket that leaves the messages to the check: it keeps connections and streams, and carries
//! messages between the client and one [`Conversation`](crate::conversation::Conversation) per connection.

use std::collections::HashMap;

use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::sync::mpsc;

use super::served::{Accepted, Command, Conversations, IDLE, Served};
use super::{EventStream, Exchange, HeaderCase, HttpServer};
use crate::link::Link;
use crate::link::http::SUITE_COOKIE;
use crate::link::received::{QUEUE, Received};
use crate::link::websocket::{WebSocket, accept_key};
use crate::setting::Setting;
use crate::subject::Transport;
use crate::verdict::Outcome;

/// The agent's side of all connections of a client.
pub(super) struct Agent {
    setting: Setting,
    live: HashMap<u64, Live>,
    next: u64,
    /// Messages of a client that does not wait for its connection, which only a fault sends.
    early: Vec<Exchange>,
    accepted: mpsc::Sender<Accepted>,
    commands: mpsc::Sender<Command>,
}

/// Listens for a client.
pub(crate) async fn listen(setting: &Setting) -> Outcome<Conversations> {
    let server = HttpServer::listen(setting, HeaderCase::Lower).await?;
    let mut url = server.url("/acp");
    if setting.transport == Transport::Ws {
        url = url.replacen("http", "ws", 1);
    }
    let run = |accepted, commands, received| Agent::new(setting, accepted, commands).run(server, received);
    Ok(Conversations::run(url, run))
}

/// One connection over HTTP.
struct Live {
    received: mpsc::Sender<Received>,
    /// `initialize`, until the check has answered it.
    initialize: Option<Exchange>,
    /// The streams that the client reads, by session; that of the connection has none.
    streams: HashMap<Option<String>, EventStream>,
    /// Messages whose stream is not open.
    queued: Vec<(Option<String>, Value)>,
    /// The session of each request of the client that has no response yet.
    posted: HashMap<String, Option<String>>,
}

impl Agent {
    pub(super) fn new(
        setting: &Setting,
        accepted: mpsc::Sender<Accepted>,
        commands: mpsc::Sender<Command>,
    ) -> Self {
        Self {
            setting: setting.clone(),
            live: HashMap::new(),
            next: 1,
            early: Vec::new(),
            accepted,
            commands,
        }
    }

    pub(super) async fn run(mut self, mut server: HttpServer, mut commands: mpsc::Receiver<Command>) {
        loop {
            tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(Command::Accept) => {}
                    Some(Command::Send(number, message)) => {
                        if let Some(live) = self.live.get_mut(&number) {
                            // The client may have closed the stream.
                            let _closed = live.send(number, message).await;
                        }
                    }
                    Some(Command::Close(number)) => drop(self.live.remove(&number)),
                    None => return,
                },
                exchange = server.next(IDLE) => if let Some(exchange) = exchange {
                    // What cannot be answered is cut off.
                    let _cut = self.take(exchange).await;
                },
            }
        }
    }

    async fn take(&mut self, mut exchange: Exchange) -> Outcome {
        let request = &exchange.request;
        if request.header("upgrade").is_some_and(|to| to.eq_ignore_ascii_case("websocket")) {
            return self.upgrade(exchange).await;
        }
        let number = request.header("acp-connection-id").map(str::to_owned);
        if number.is_none() && request.calls("initialize") {
            return self.begin(exchange).await;
        }
        let number = match number {
            Some(number) => number.strip_prefix("connection-").and_then(|id| id.parse().ok()).unwrap_or(0),
            None if exchange.is_forged() => match self.live.keys().max() {
                Some(newest) => *newest,
                None => {
                    self.early.push(exchange);
                    return Ok(());
                }
            },
            None => return exchange.status(400),
        };
        let Some(live) = self.live.get_mut(&number) else { return exchange.status(404) };
        match exchange.request.method.as_str() {
            "POST" => live.post(exchange).await,
            "GET" => live.open(exchange).await,
            "DELETE" => {
                exchange.status(202)?;
                // The check may have ended.
                let _ended = live.received.send(Received::Closed).await;
                self.live.remove(&number);
                Ok(())
            }
            _ => exchange.respond(405, &[("allow", "GET, POST, DELETE")], b""),
        }
    }

    /// Begins a connection over HTTP.
    async fn begin(&mut self, exchange: Exchange) -> Outcome {
        let number = self.next;
        self.next += 1;
        let (sender, received) = mpsc::channel(QUEUE);
        let mut live = Live {
            received: sender,
            initialize: None,
            streams: HashMap::new(),
            queued: Vec::new(),
            posted: HashMap::new(),
        };
        for early in std::mem::take(&mut self.early) {
            early.deliver(&live.received).await;
        }
        exchange.deliver(&live.received).await;
        live.initialize = Some(exchange);
        self.live.insert(number, live);
        let served = Served::new(number, self.commands.clone());
        // The check may have ended.
        let _ended = self.accepted.send((Link::Served(served), received)).await;
        Ok(())
    }

    /// Begins a connection over WebSocket.
    async fn upgrade(&mut self, mut exchange: Exchange) -> Outcome {
        let Some(key) = exchange.request.header("sec-websocket-key").map(str::to_owned) else {
            return exchange.status(400);
        };
        let id = format!("connection-{}", self.next);
        self.next += 1;
        let accept = accept_key(&key);
        let headers = [
            ("connection", "Upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-accept", accept.as_str()),
            ("acp-connection-id", id.as_str()),
        ];
        let upgraded = exchange.upgrade(&headers).await?;
        let (sender, received) = mpsc::channel(QUEUE);
        let Setting { trace, faults, .. } = &self.setting;
        let stream = Box::new(TokioIo::new(upgraded));
        let socket = WebSocket::of_agent(stream, (trace, faults), sender).await;
        // The check may have ended.
        let _ended = self.accepted.send((Link::WebSocket(socket), received)).await;
        Ok(())
    }
}

impl Live {
    /// Takes a message, whose session is named by a header or by its params.
    async fn post(&mut self, mut exchange: Exchange) -> Outcome {
        let message = exchange.request.message().unwrap_or_default();
        if message.get("method").is_some()
            && let Some(id) = message.get("id")
        {
            let header = exchange.request.header("acp-session-id").map(str::to_owned);
            self.posted.insert(id.to_string(), header.or_else(|| session_of(&message)));
        }
        exchange.status(202)?;
        exchange.deliver(&self.received).await;
        Ok(())
    }

    /// Opens a stream, also of a session that is not open yet: clients may read it before they load the session.
    async fn open(&mut self, mut exchange: Exchange) -> Outcome {
        let session = exchange.request.header("acp-session-id").map(str::to_owned);
        let stream = exchange.stream(&[])?;
        let (here, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.queued).into_iter().partition(|(of, _)| *of == session);
        self.queued = others;
        for (_, message) in here {
            stream.message(&message).await?;
        }
        self.streams.insert(session, stream);
        Ok(())
    }

    /// Sends a message on the stream that it belongs to.
    async fn send(&mut self, number: u64, message: Value) -> Outcome {
        let id = message.get("id").cloned().unwrap_or_default();
        if message.get("method").is_none() {
            let answers = |exchange: &Exchange| {
                exchange.request.message().is_some_and(|request| request.get("id") == Some(&id))
            };
            if let Some(mut exchange) = self.initialize.take_if(|exchange| answers(exchange)) {
                let (name, cookie) =
                    (format!("connection-{number}"), format!("{SUITE_COOKIE}; Path=/; HttpOnly"));
                let headers = [("acp-connection-id", name.as_str()), ("set-cookie", cookie.as_str())];
                // A connection that was refused has no id.
                let count = if message.get("error").is_some() { 0 } else { headers.len() };
                return exchange.json(200, &headers[..count], &message).await;
            }
        }
        let session = match message.get("method") {
            None => self.posted.remove(&id.to_string()).flatten(),
            Some(_) => session_of(&message),
        };
        self.streams.retain(|_, stream| !stream.is_closed());
        match self.streams.get(&session) {
            Some(stream) => stream.message(&message).await,
            None => {
                self.queued.push((session, message));
                Ok(())
            }
        }
    }
}

/// The session that the params of a message name.
fn session_of(message: &Value) -> Option<String> {
    let method = message["method"].as_str().unwrap_or_default();
    let session = message.pointer("/params/sessionId").and_then(Value::as_str);
    session.filter(|_| !method.starts_with("$/")).map(str::to_owned)
}
