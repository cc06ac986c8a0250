//! A JSON-RPC conversation with a subject: sends requests, waits for responses, answers what the subject asks.

pub(crate) mod shared;
mod start;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::start::Start;
use crate::link::Link;
use crate::link::processes::Processes;
pub(crate) use crate::link::received::Arrived;
use crate::link::received::{QUEUE, Received, reply_to, unreadable};
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::verdict::{Outcome, Stop};

/// How many messages may wait for a check.
const MAX_WAITING: usize = 100_000;

/// How the suite answers a request of the subject: a result or an error object; nothing leaves the request open.
pub(crate) type Answers = Box<dyn FnMut(&Value) -> Option<Result<Value, Value>> + Send>;

/// A conversation. Messages wait in a queue until a check takes them; requests of the subject are answered at once.
pub(crate) struct Conversation {
    pub(crate) link: Link,
    received: mpsc::Receiver<Received>,
    queue: VecDeque<Arrived>,
    /// Lines that are no JSON.
    pub(crate) texts: Vec<Vec<u8>>,
    /// Requests of the subject, in order, answered or not.
    pub(crate) asked: Vec<Value>,
    answers: Answers,
    /// Members that are added to the `_meta` of each request and notification.
    meta: Option<Value>,
    next_id: i64,
    wait: Duration,
    start: Start,
    closed: bool,
    /// How many messages were received after the time for them.
    late: usize,
}

impl Conversation {
    pub(crate) fn new(link: Link, received: mpsc::Receiver<Received>, wait: Duration) -> Self {
        Self {
            link,
            received,
            queue: VecDeque::new(),
            texts: Vec::new(),
            asked: Vec::new(),
            answers: Box::new(|_| None),
            meta: None,
            next_id: 1000,
            wait,
            start: Start::default(),
            closed: false,
            late: 0,
        }
    }

    /// A conversation with a program that is started for it. Its first message may take as long as `start`.
    pub(crate) async fn with_program(
        command: &CommandLine,
        setting: &Setting,
        start: Duration,
    ) -> Outcome<Self> {
        let (sender, received) = mpsc::channel(QUEUE);
        let link = Link::start(command, setting, sender).await?;
        let mut conversation = Self::new(link, received, setting.wait);
        if setting.faults.is_none() {
            conversation.starts(&setting.processes, start);
        }
        Ok(conversation)
    }

    /// Records that the program was just started. Its first message may take as long as `most`.
    pub(crate) fn starts(&mut self, processes: &Processes, most: Duration) {
        self.start = Start::of_program(processes, most);
    }

    /// Allows the program more time for its next message than for others.
    pub(crate) fn allow(&mut self, time: Duration) {
        self.start.allow(time);
    }

    /// Sets how requests of the subject are answered.
    pub(crate) fn answer_with(
        &mut self,
        answers: impl FnMut(&Value) -> Option<Result<Value, Value>> + Send + 'static,
    ) {
        self.answers = Box::new(answers);
    }

    /// Sets the number before the first id of the suite's requests, so that several conversations of one check share none.
    pub(crate) fn number_from(&mut self, before: i64) {
        self.next_id = before;
    }

    /// Sets what is added to the `_meta` of each request and notification.
    pub(crate) fn set_meta(&mut self, meta: Value) {
        self.meta = Some(meta);
    }

    /// Sets the version that requests over HTTP name in their header.
    pub(crate) fn set_version(&mut self, version: &str) {
        if let Link::Streamable(link) = &mut self.link {
            link.set_version(version);
        }
    }

    /// How long the suite waits for a message.
    pub(crate) fn wait(&self) -> Duration {
        self.wait
    }

    pub(crate) fn set_wait(&mut self, wait: Duration) {
        self.wait = wait;
    }

    /// Sends a message as it is.
    pub(crate) async fn send(&mut self, message: &Value) -> Outcome {
        self.link.send(message).await.map_err(|stop| self.start.ended(stop))
    }

    /// Sends bytes as they are; HTTP cannot.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) -> Outcome {
        self.link.send_bytes(bytes).await.map_err(|stop| self.start.ended(stop))
    }

    /// Sends a notification.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) -> Outcome {
        let params = self.with_meta(params);
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await
    }

    /// Sends a request and returns its id.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> Outcome<Value> {
        self.next_id += 1;
        let id = json!(self.next_id);
        self.start_as(id.clone(), method, params).await?;
        Ok(id)
    }

    /// Sends a request with an id of the check's choice.
    pub(crate) async fn start_as(&mut self, id: Value, method: &str, params: Value) -> Outcome {
        let params = self.with_meta(params);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await
    }

    /// Sends a request and waits for its response: the whole message.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Outcome<Value> {
        let id = self.start(method, params).await?;
        self.response(&id).await
    }

    /// Sends a request that has to succeed: its result.
    pub(crate) async fn ok(&mut self, method: &str, params: Value) -> Outcome<Value> {
        let mut response = self.request(method, params).await?;
        match response.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(Stop::failed(format!("a result of {method}"), format!("`{response}`"))),
        }
    }

    /// Sends a request that has to fail: its error object.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Outcome<Value> {
        let mut response = self.request(method, params).await?;
        match response.get_mut("error") {
            Some(error) => Ok(error.take()),
            None => Err(Stop::failed(format!("an error in response to {method}"), format!("`{response}`"))),
        }
    }

    /// Waits for the response with an id: the whole message. Other messages stay in the queue.
    pub(crate) async fn response(&mut self, id: &Value) -> Outcome<Value> {
        self.wanted(&format!("a response with the id {id}"), |message| {
            message.get("id") == Some(id) && message.get("method").is_none()
        })
        .await
    }

    /// Waits for a request or a notification of a method.
    pub(crate) async fn call(&mut self, method: &str) -> Outcome<Value> {
        self.wanted(&format!("a message with the method {method}"), |message| {
            message.get("method").is_some_and(|name| name == method)
        })
        .await
    }

    /// Waits for the first message that a test accepts, and takes it out of the queue.
    pub(crate) async fn wanted(&mut self, what: &str, accept: impl FnMut(&Value) -> bool) -> Outcome<Value> {
        Ok(self.arrived(what, accept).await?.message)
    }

    /// The same, with where it arrived.
    pub(crate) async fn arrived(
        &mut self,
        what: &str,
        mut accept: impl FnMut(&Value) -> bool,
    ) -> Outcome<Arrived> {
        let (mut begun, mut from) = (Instant::now(), 0);
        loop {
            if let Some(at) = self.queue.range(from..).position(|arrived| accept(&arrived.message)) {
                return self.queue.remove(from + at).ok_or_else(|| Stop::inconclusive("the queue changed"));
            }
            from = self.queue.len();
            if self.closed {
                let seen = format!("the conversation has ended{}", unreadable(&self.texts));
                return Err(self.start.ended(Stop::failed(what, seen)));
            }
            let start = self.start.time();
            let wait = start.map_or(self.wait, |start| start.max(self.wait));
            match self.pump(begun + wait).await? {
                // The first message ends the time for the start, and what is waited for has its own time from then on.
                true if start.is_some() && self.start.time().is_none() => begun = Instant::now(),
                true => {}
                false => {
                    let seen = format!("none came within {} ms{}", wait.as_millis(), unreadable(&self.texts));
                    return Err(self.start.silent(Stop::failed(what, seen)));
                }
            }
        }
    }

    /// The next message, whatever it is.
    pub(crate) async fn next(&mut self) -> Outcome<Value> {
        self.wanted("a message", |_| true).await
    }

    /// Receives for a while; returns the messages that arrived until then, and takes them out of the queue.
    pub(crate) async fn listen(&mut self, time: Duration) -> Outcome<Vec<Arrived>> {
        self.serve(time).await?;
        Ok(self.queue.drain(..).collect())
    }

    /// Receives for a while, or until the conversation ends; what arrives waits in the queue.
    pub(crate) async fn serve(&mut self, time: Duration) -> Outcome {
        let until = Instant::now() + time;
        while !self.closed {
            if !self.pump(until).await? {
                break;
            }
        }
        Ok(())
    }

    /// Fails if a message arrives within a while that a test does not allow.
    pub(crate) async fn silence(
        &mut self,
        time: Duration,
        what: &str,
        mut allowed: impl FnMut(&Value) -> bool,
    ) -> Outcome {
        for arrived in self.listen(time).await? {
            if !allowed(&arrived.message) {
                return Err(Stop::failed(what, format!("`{}` arrived", arrived.message)));
            }
        }
        Ok(())
    }

    /// The messages that wait in the queue.
    pub(crate) fn queued(&self) -> impl Iterator<Item = &Value> {
        self.queue.iter().map(|arrived| &arrived.message)
    }

    /// Waits for the end of the conversation.
    pub(crate) async fn end(&mut self, within: Duration) -> Outcome {
        self.serve(within).await?;
        if self.closed {
            return Ok(());
        }
        let seen = format!("it is open {} ms later", within.as_millis());
        Err(Stop::failed("the end of the conversation", seen))
    }

    /// Goes on with the conversation, and answers, until something else has ended.
    pub(crate) async fn during<T>(&mut self, other: impl Future<Output = Outcome<T>>) -> Outcome<T> {
        tokio::pin!(other);
        loop {
            let received = tokio::select! {
                biased;
                ended = &mut other => return ended,
                received = self.received.recv(), if !self.closed => received,
            };
            self.receive(received).await?;
        }
    }

    /// Whether the conversation has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Ends the sending: closes standard input.
    pub(crate) fn close(&mut self) {
        self.link.close();
    }

    /// Sends a result as the response to a request of the subject.
    pub(crate) async fn reply(&mut self, request: &Value, result: Value) -> Outcome {
        self.send(&reply_to(request, Ok(result))).await
    }

    /// Sends an error as the response to a request of the subject.
    pub(crate) async fn refuse(&mut self, request: &Value, code: i64, message: &str) -> Outcome {
        self.send(&reply_to(request, Err(json!({"code": code, "message": message})))).await
    }

    /// The next line that the subject wrote; none at the end. Nothing is answered.
    pub(crate) async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.received.recv().await {
            Some(Received::Message { message, .. }) => Ok(Some(message.to_string().into_bytes())),
            Some(Received::Text(text)) => Ok(Some(text)),
            Some(Received::Closed) | None => Ok(None),
            Some(Received::Status { .. } | Received::Broken(_)) => Err(io::Error::other("no line")),
        }
    }

    /// Receives one thing, or returns false at the end of the time.
    async fn pump(&mut self, until: Instant) -> Outcome<bool> {
        if Instant::now() >= until {
            // Receives the messages that are queued now, but not those that a program that never stops adds later.
            return match self.received.try_recv() {
                Ok(received) if self.late < QUEUE => {
                    self.late += 1;
                    self.receive(Some(received)).await?;
                    Ok(true)
                }
                _ => Ok(false),
            };
        }
        let Ok(received) = tokio::time::timeout_at(until, self.received.recv()).await else {
            return Ok(false);
        };
        self.receive(received).await?;
        Ok(true)
    }

    async fn receive(&mut self, received: Option<Received>) -> Outcome {
        self.expect_room()?;
        self.start.hear(received.as_ref());
        match received {
            Some(Received::Message { message, stream }) => match message {
                Value::Array(batch) => {
                    for message in batch {
                        self.take(message, stream).await?;
                    }
                }
                message => self.take(message, stream).await?,
            },
            Some(Received::Text(text)) => self.texts.push(text),
            Some(Received::Status { status, body }) => {
                return Err(Stop::failed("a message", format!("the status {status} with the body `{body}`")));
            }
            Some(Received::Broken(stop)) => return Err(stop),
            Some(Received::Closed) | None => self.closed = true,
        }
        Ok(())
    }

    /// Answers a request of the subject, or keeps the message for the check.
    async fn take(&mut self, message: Value, stream: u32) -> Outcome {
        if message.get("method").is_some() && message.get("id").is_some() {
            self.asked.push(message.clone());
            if let Some(answer) = (self.answers)(&message) {
                return self.send(&reply_to(&message, answer)).await;
            }
        }
        self.queue.push_back(Arrived { message, stream });
        Ok(())
    }

    /// Fails when too much waits that no check takes.
    fn expect_room(&self) -> Outcome {
        if self.queue.len() + self.asked.len() + self.texts.len() <= MAX_WAITING {
            return Ok(());
        }
        let why = format!("the program sent over {MAX_WAITING} messages that the check does not wait for");
        Err(Stop::inconclusive(why))
    }

    fn with_meta(&self, mut params: Value) -> Value {
        if let Some(meta) = self.meta.as_ref().and_then(Value::as_object)
            && let Some(params) = params.as_object_mut()
            && let Some(own) = params.entry("_meta").or_insert_with(|| json!({})).as_object_mut()
        {
            for (name, value) in meta {
                own.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        params
    }
}
