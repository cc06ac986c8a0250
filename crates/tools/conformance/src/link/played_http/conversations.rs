//! A conformant MCP server over HTTP that leaves the messages to the check: it keeps sessions and streams, and carries messages
//! between the client and one [`Conversation`](crate::conversation::Conversation) per session.

use std::collections::HashMap;

use serde_json::Value;
use tokio::sync::mpsc;

use super::messages::{error, is_modern, requests_of, status_of};
use super::served::{Accepted, Command, Conversations, IDLE, Served};
use super::{EventStream, Exchange, HeaderCase, HttpServer};
use crate::fault::ClientRequest;
use crate::link::Link;
use crate::link::events::Event;
use crate::link::received::{QUEUE, Received};
use crate::setting::Setting;
use crate::subject::Transport;
use crate::verdict::Outcome;

/// The server's side.
struct Server {
    setting: Setting,
    /// Where clients of HTTP+SSE send their messages.
    messages: String,
    live: HashMap<u64, Live>,
    next: u64,
    wanted: usize,
    /// Requests that no conversation takes yet.
    waiting: Vec<Exchange>,
    accepted: mpsc::Sender<Accepted>,
    commands: mpsc::Sender<Command>,
}

/// One conversation.
struct Live {
    received: mpsc::Sender<Received>,
    /// Requests that have no response yet.
    pending: Vec<Pending>,
    /// Streams that belong to no request.
    streams: Vec<EventStream>,
    /// The fields of each event on them beside the message.
    fields: Event,
    /// Messages that no stream could take so far.
    queued: Vec<Value>,
    /// The session that the response to `initialize` opens.
    session: Option<String>,
}

struct Pending {
    body: Value,
    ids: Vec<Value>,
    exchange: Exchange,
    stream: Option<EventStream>,
    /// The session that begins with the response.
    session: Option<String>,
}

/// Listens for a client.
pub(crate) async fn listen(setting: &Setting) -> Outcome<Conversations> {
    let server = HttpServer::listen(setting, HeaderCase::Lower).await?;
    let url = server.url(if setting.transport == Transport::Sse { "/sse" } else { "/mcp" });
    let messages = server.path("/messages");
    Ok(Conversations::run(url, |accepted, commands, received| {
        let state = Server {
            setting: setting.clone(),
            messages,
            live: HashMap::new(),
            next: 1,
            wanted: 0,
            waiting: Vec::new(),
            accepted,
            commands,
        };
        state.run(server, received)
    }))
}

impl Server {
    async fn run(mut self, mut server: HttpServer, mut commands: mpsc::Receiver<Command>) {
        loop {
            tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(Command::Accept) => {
                        self.wanted += 1;
                        for exchange in std::mem::take(&mut self.waiting) {
                            // What cannot be answered is cut off.
                            let _cut = self.take(exchange).await;
                        }
                    }
                    Some(Command::Send(number, message)) => {
                        if let Some(live) = self.live.get_mut(&number) {
                            // The client may have closed the stream.
                            let _closed = live.send(message).await;
                        }
                    }
                    Some(Command::Close(number)) => drop(self.live.remove(&number)),
                    None => return,
                },
                exchange = server.next(IDLE) => if let Some(exchange) = exchange {
                    let _cut = self.take(exchange).await;
                },
            }
        }
    }

    async fn take(&mut self, exchange: Exchange) -> Outcome {
        if self.setting.transport == Transport::Sse {
            return self.take_sse(exchange).await;
        }
        if self.setting.revision.is_legacy() {
            return self.take_in_session(exchange).await;
        }
        self.take_modern(exchange).await
    }

    /// HTTP+SSE: a GET begins a conversation, and each POST names its own.
    async fn take_sse(&mut self, mut exchange: Exchange) -> Outcome {
        let path = exchange.request.target.clone();
        match (exchange.request.method.as_str(), path.split_once("?session=")) {
            ("GET", None) if path == "/sse" => {
                let stream = exchange.stream(&[])?;
                let number = self.begin(None).await;
                let endpoint = Event {
                    name: Some("endpoint".into()),
                    data: format!("{}?session={number}", self.messages),
                    has_data: true,
                    ..Event::default()
                };
                stream.event(&endpoint).await?;
                if let Some(live) = self.live.get_mut(&number) {
                    live.streams.push(stream);
                }
                Ok(())
            }
            ("POST", Some(("/messages", number))) => {
                let live = number.parse().ok().and_then(|number: u64| self.live.get_mut(&number));
                let Some(live) = live else {
                    return exchange.status(404);
                };
                exchange.status(202)?;
                exchange.deliver(&live.received).await;
                Ok(())
            }
            _ => exchange.respond(405, &[("allow", "GET")], b""),
        }
    }

    async fn take_in_session(&mut self, mut exchange: Exchange) -> Outcome {
        let is_probe = |request: &ClientRequest| {
            request.calls("server/discover") || request.message().is_some_and(|message| is_modern(&message))
        };
        let session = exchange.request.header("mcp-session-id").map(str::to_owned);
        let number = match session.as_deref().and_then(|session| session.strip_prefix("session-")) {
            Some(number) => number.parse().ok(),
            // A client that loses its session id is the mutant of a check, and is to go on.
            None => self.live.keys().max().copied().filter(|_| !is_probe(&exchange.request)),
        };
        let number = if exchange.request.calls("initialize") {
            let number = self.begin(Some(format!("session-{}", self.next))).await;
            Some(number)
        } else {
            number
        };
        let Some((number, live)) = number.and_then(|number| Some((number, self.live.get_mut(&number)?)))
        else {
            if session.is_some() {
                return exchange.status(404);
            }
            let body = error(&Value::Null, -32000, "Bad Request: no session id");
            return exchange.json(400, &[], &body).await;
        };
        match exchange.request.method.as_str() {
            "POST" => live.post(exchange).await,
            "GET" => {
                let stream = exchange.stream(&[])?;
                // A comment shows the client that the stream is open.
                stream.event(&Event { comments: vec!["open".into()], ..Event::default() }).await?;
                for message in std::mem::take(&mut live.queued) {
                    stream.message(&message).await?;
                }
                live.streams.push(stream);
                Ok(())
            }
            "DELETE" => {
                exchange.status(200)?;
                // The check may have ended.
                let _ended = live.received.send(Received::Closed).await;
                self.live.remove(&number);
                Ok(())
            }
            _ => exchange.respond(405, &[("allow", "GET, POST, DELETE")], b""),
        }
    }

    /// Without sessions, requests go to the newest conversation that a check still has, or begin the one it waits for.
    async fn take_modern(&mut self, mut exchange: Exchange) -> Outcome {
        if exchange.request.method != "POST" {
            return exchange.respond(405, &[("allow", "POST")], b"");
        }
        self.live.retain(|_, live| !live.received.is_closed());
        let number = match self.live.keys().max() {
            Some(newest) if self.wanted == 0 => *newest,
            _ if self.wanted == 0 => {
                self.waiting.push(exchange);
                return Ok(());
            }
            _ => self.begin(None).await,
        };
        match self.live.get_mut(&number) {
            Some(live) => live.post(exchange).await,
            None => exchange.status(500),
        }
    }

    async fn begin(&mut self, session: Option<String>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.wanted = self.wanted.saturating_sub(1);
        let (sender, receiver) = mpsc::channel(QUEUE);
        // The page of HTTP+SSE names the events of messages.
        let name = (self.setting.transport == Transport::Sse).then(|| "message".to_owned());
        let live = Live {
            received: sender,
            pending: Vec::new(),
            streams: Vec::new(),
            fields: Event { name, ..Event::default() },
            queued: Vec::new(),
            session,
        };
        self.live.insert(number, live);
        // The check may have ended.
        let _ended =
            self.accepted.send((Link::Served(Served::new(number, self.commands.clone())), receiver)).await;
        number
    }
}

impl Live {
    /// Takes a POST: what asks for no response is accepted at once.
    async fn post(&mut self, mut exchange: Exchange) -> Outcome {
        let Some(body) = exchange.request.message() else {
            return exchange.json(400, &[], &error(&Value::Null, -32700, "Parse error")).await;
        };
        let ids: Vec<Value> = requests_of(&body).filter_map(|request| request.get("id")).cloned().collect();
        if ids.is_empty() {
            exchange.status(202)?;
            exchange.deliver(&self.received).await;
            return Ok(());
        }
        exchange.deliver(&self.received).await;
        let session = self.session.clone().filter(|_| body["method"] == "initialize");
        let mut pending = Pending { body, ids, exchange, stream: None, session };
        if pending.body["method"] != "initialize" {
            for message in std::mem::take(&mut self.queued) {
                pending.stream().await?.message(&message).await?;
            }
        }
        self.pending.push(pending);
        Ok(())
    }

    /// Sends a message or a batch.
    async fn send(&mut self, message: Value) -> Outcome {
        let first = message.as_array().and_then(|batch| batch.first()).unwrap_or(&message).clone();
        if first.get("method").is_some() {
            return self.send_call(&first, message).await;
        }
        let id = first.get("id").cloned().unwrap_or_default();
        let Some(at) = self.pending.iter().position(|pending| pending.ids.contains(&id)) else {
            return match self.streams.last() {
                Some(stream) => stream.message_as(&message, self.fields.clone()).await,
                None => Ok(()),
            };
        };
        let pending = &mut self.pending[at];
        pending.ids.retain(|known| *known != id);
        if !pending.ids.is_empty() || pending.body.is_array() {
            pending.stream().await?.message(&message).await?;
        } else if let Some(stream) = &pending.stream {
            stream.message(&message).await?;
        } else {
            let session: Vec<(&str, &str)> =
                pending.session.iter().map(|session| ("mcp-session-id", session.as_str())).collect();
            let status = status_of(&pending.body, &message);
            pending.exchange.json(status, &session, &message).await?;
        }
        if self.pending[at].ids.is_empty() {
            self.pending.remove(at);
        }
        Ok(())
    }

    /// Sends a request or a notification on the stream that may carry it.
    async fn send_call(&mut self, first: &Value, message: Value) -> Outcome {
        self.streams.retain(|stream| !stream.is_closed());
        let related = self.related(first);
        if let Some(at) = related {
            return self.pending[at].stream().await?.message(&message).await;
        }
        let is_news = first["method"].as_str().is_some_and(|method| {
            method.ends_with("list_changed") || method == "notifications/resources/updated"
        });
        let newest = self.pending.len().checked_sub(1);
        match (self.streams.last(), newest) {
            (Some(stream), newest) if is_news || newest.is_none() => {
                stream.message_as(&message, self.fields.clone()).await
            }
            (_, Some(at)) => self.pending[at].stream().await?.message(&message).await,
            _ => {
                self.queued.push(message);
                Ok(())
            }
        }
    }

    /// The request that a notification names by its token or by its subscription.
    fn related(&self, message: &Value) -> Option<usize> {
        let params = message.get("params")?;
        if let Some(subscription) = params.pointer("/_meta/io.modelcontextprotocol~1subscriptionId") {
            let matches =
                |id: &Value| id == subscription || subscription.as_str() == Some(id.to_string().as_str());
            return self.pending.iter().position(|pending| pending.ids.iter().any(matches));
        }
        let token = params.get("progressToken")?;
        let has_token = |request: &Value| request.pointer("/params/_meta/progressToken") == Some(token);
        self.pending.iter().position(|pending| requests_of(&pending.body).any(has_token))
    }
}

impl Pending {
    /// The event stream that answers the request, which begins here at the latest.
    async fn stream(&mut self) -> Outcome<&EventStream> {
        let stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let mut headers = vec![("x-accel-buffering", "no")];
                headers.extend(self.session.iter().map(|session| ("mcp-session-id", session.as_str())));
                self.exchange.stream(&headers)?
            }
        };
        Ok(self.stream.insert(stream))
    }
}
