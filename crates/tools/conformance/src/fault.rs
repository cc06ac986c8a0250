//! Faults that make a conformant program a wrong one, to test that each check catches what it is there for.
//!
//! A fault sees the messages between the suite and the program, and changes those that the suite receives. Since a check
//! knows its subject by these bytes alone, a changed byte is as good as a changed program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::link::events::Event;

/// Something that arrives from the subject, before the suite looks at it.
#[derive(Debug, Clone)]
pub(crate) enum Incoming {
    /// A line of standard output, or of a client's conversation over stdio, without its end.
    Line(Vec<u8>),
    /// A response's status and headers.
    Head(Head),
    /// The whole body of a response that is not an event stream.
    Body { exchange: u32, bytes: Vec<u8> },
    /// An event of an event stream.
    Event { exchange: u32, event: Event },
    /// A frame of a WebSocket.
    Frame { is_text: bool, bytes: Vec<u8> },
    /// The end of an event stream.
    StreamEnd { exchange: u32 },
    /// A request of a client over HTTP.
    Request(ClientRequest),
    /// The outcome of a client's step: `{"result": …}` or `{"error": …}`.
    Outcome(Value),
    /// The end of standard output, of a WebSocket or of the conversation.
    Closed,
    /// A message that the subject never sent; it reaches the check as if it had.
    Forged(Value),
}

/// A response's status and headers. The names of headers are in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// Numbers the requests of one check.
    pub(crate) exchange: u32,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

/// Part of an answer that the suite gives to a client over HTTP, before the client sees it.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A status and headers. The names of headers are in lower case.
    Head { status: u16, headers: Vec<(String, String)> },
    /// The whole body of a response that is not an event stream.
    Body(Vec<u8>),
    /// An event of an event stream.
    Event(Event),
    /// The end of an event stream, in order or not.
    End,
}

/// A request that a client under test makes. The names of headers are in lower case.
#[derive(Debug, Clone)]
pub(crate) struct ClientRequest {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Head {
    /// The first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Replaces a header, or adds it.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.headers.retain(|(known, _)| known != name);
    }
}

impl ClientRequest {
    /// The first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Replaces a header, or adds it.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.headers.retain(|(known, _)| known != name);
    }

    /// The message in its body, or the batch.
    pub(crate) fn message(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Whether it posts a request or a notification of a method.
    pub(crate) fn calls(&self, method: &str) -> bool {
        self.method == "POST" && self.message().is_some_and(|message| message["method"] == method)
    }
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// A fault, which may keep a state of its own.
pub(crate) trait Fault: Send {
    /// Sees a message that the suite sends; `true` keeps it from the subject.
    fn outgoing(&mut self, _message: &Value, _forged: &mut Vec<Value>) -> bool {
        false
    }

    /// Sees an HTTP request that the suite sends, as text: `METHOD target HTTP/1.1`, a line `name: value` for each header, an
    /// empty line, and the body.
    fn exchange(&mut self, _exchange: u32, _request: &str) {}

    /// Changes an answer of the suite over HTTP, so that the subject behaves as one that misreads it; none keeps it back.
    fn answer(&mut self, answer: Answer) -> Option<Answer> {
        Some(answer)
    }

    /// Changes what arrives: nothing, the same, or more.
    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        vec![incoming]
    }
}

/// The fault of one run, or none. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Faults(Option<Arc<Mutex<Box<dyn Fault>>>>);

impl Faults {
    #[cfg(feature = "mutants")]
    pub(crate) fn new(fault: Box<dyn Fault>) -> Self {
        Self(Some(Arc::new(Mutex::new(fault))))
    }

    /// Whether the subject is as it is.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Passes a message on its way to the subject: whether it is kept from it, and what is forged in return.
    pub(crate) fn outgoing(&self, message: &Value) -> (bool, Vec<Value>) {
        let mut forged = Vec::new();
        let kept = self.lock().is_some_and(|mut fault| fault.outgoing(message, &mut forged));
        (kept, forged)
    }

    pub(crate) fn exchange(&self, exchange: u32, request: &str) {
        if let Some(mut fault) = self.lock() {
            fault.exchange(exchange, request);
        }
    }

    pub(crate) fn answer(&self, answer: Answer) -> Option<Answer> {
        match self.lock() {
            Some(mut fault) => fault.answer(answer),
            None => Some(answer),
        }
    }

    pub(crate) fn incoming(&self, incoming: Incoming) -> Vec<Incoming> {
        match self.lock() {
            Some(mut fault) => fault.incoming(incoming),
            None => vec![incoming],
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, Box<dyn Fault>>> {
        self.0.as_ref().map(|fault| fault.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
