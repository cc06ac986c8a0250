//! The parts of faults: each changes one kind of thing that arrives or is sent.

use crate::fault::{Answer, ClientRequest, Fault, Incoming};
use crate::link::events::Event;
use serde_json::Value;

pub(super) type Edit = Box<dyn FnMut(&mut Value) + Send>;
pub(super) type Say = Box<dyn FnMut(&Value) -> Vec<Value> + Send>;

pub(super) struct Messages {
    pub(super) edit: Edit,
}

impl Fault for Messages {
    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        edit_messages(incoming, &mut self.edit)
    }
}

pub(super) struct Responses {
    pub(super) method: &'static str,
    pub(super) ids: Vec<Value>,
    pub(super) edit: Edit,
}

impl Fault for Responses {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        note_id(message, self.method, &mut self.ids);
        false
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        let Self { ids, edit, .. } = self;
        edit_messages(incoming, &mut |message| {
            if is_response_to(message, ids) {
                edit(message);
            }
        })
    }
}

pub(super) struct Ignores(pub(super) Box<dyn FnMut(&Value) -> bool + Send>);

impl Fault for Ignores {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        (self.0)(message)
    }
}

pub(super) struct SaysAt {
    pub(super) method: &'static str,
    pub(super) say: Say,
}

impl Fault for SaysAt {
    fn outgoing(&mut self, message: &Value, forged: &mut Vec<Value>) -> bool {
        if message.get("method").is_some_and(|name| name == self.method) {
            forged.extend((self.say)(message));
        }
        false
    }
}

pub(super) struct SaysAround {
    pub(super) method: &'static str,
    pub(super) ids: Vec<Value>,
    pub(super) before: bool,
    pub(super) say: Say,
}

impl Fault for SaysAround {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        note_id(message, self.method, &mut self.ids);
        false
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        let Some(response) = message_in(&incoming).filter(|message| is_response_to(message, &self.ids))
        else {
            return vec![incoming];
        };
        let mut all: Vec<Incoming> = (self.say)(&response).into_iter().map(Incoming::Forged).collect();
        let at = if self.before { all.len() } else { 0 };
        all.insert(at, incoming);
        all
    }
}

pub(super) struct Anything(pub(super) Box<dyn FnMut(Incoming) -> Vec<Incoming> + Send>);

impl Fault for Anything {
    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        (self.0)(incoming)
    }
}

pub(super) struct Misreads(pub(super) Box<dyn FnMut(Answer) -> Option<Answer> + Send>);

impl Fault for Misreads {
    fn answer(&mut self, answer: Answer) -> Option<Answer> {
        (self.0)(answer)
    }
}

pub(super) struct InResponse {
    pub(super) accept: Box<dyn FnMut(&str) -> bool + Send>,
    pub(super) exchanges: Vec<u32>,
    pub(super) change: Box<dyn FnMut(Incoming) -> Vec<Incoming> + Send>,
}

impl Fault for InResponse {
    fn exchange(&mut self, exchange: u32, request: &str) {
        if (self.accept)(request) {
            self.exchanges.push(exchange);
        }
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        let exchange = match &incoming {
            Incoming::Head(head) => head.exchange,
            Incoming::Body { exchange, .. }
            | Incoming::Event { exchange, .. }
            | Incoming::StreamEnd { exchange } => *exchange,
            _ => return vec![incoming],
        };
        if self.exchanges.contains(&exchange) { (self.change)(incoming) } else { vec![incoming] }
    }
}

pub(super) struct Both(pub(super) Box<dyn Fault>, pub(super) Box<dyn Fault>);

impl Fault for Both {
    fn outgoing(&mut self, message: &Value, forged: &mut Vec<Value>) -> bool {
        let first = self.0.outgoing(message, forged);
        self.1.outgoing(message, forged) || first
    }

    fn exchange(&mut self, exchange: u32, request: &str) {
        self.0.exchange(exchange, request);
        self.1.exchange(exchange, request);
    }

    fn answer(&mut self, answer: Answer) -> Option<Answer> {
        self.0.answer(answer).and_then(|answer| self.1.answer(answer))
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        self.0.incoming(incoming).into_iter().flat_map(|incoming| self.1.incoming(incoming)).collect()
    }
}

pub(crate) fn note_id(message: &Value, method: &str, ids: &mut Vec<Value>) {
    for message in message.as_array().map_or(std::slice::from_ref(message), Vec::as_slice) {
        if let (Some(id), true) =
            (message.get("id"), message.get("method").is_some_and(|name| name == method))
        {
            ids.push(id.clone());
        }
    }
}

pub(crate) fn is_response_to(message: &Value, ids: &[Value]) -> bool {
    message.get("method").is_none() && message.get("id").is_some_and(|id| ids.contains(id))
}

/// The message that something carries, if it is JSON.
pub(crate) fn message_in(incoming: &Incoming) -> Option<Value> {
    match incoming {
        Incoming::Line(bytes) | Incoming::Body { bytes, .. } | Incoming::Frame { bytes, .. } => {
            serde_json::from_slice(bytes).ok()
        }
        Incoming::Event { event, .. } => serde_json::from_str(&event.data).ok(),
        Incoming::Request(request) => serde_json::from_slice(&request.body).ok(),
        _ => None,
    }
}

/// Edits the message that something carries. What carries none passes; a message that becomes null is lost.
pub(crate) fn edit_messages(incoming: Incoming, edit: &mut dyn FnMut(&mut Value)) -> Vec<Incoming> {
    let Some(before) = message_in(&incoming) else {
        return vec![incoming];
    };
    let mut message = before.clone();
    match &mut message {
        Value::Array(batch) => {
            batch.iter_mut().for_each(&mut *edit);
            batch.retain(|message| !message.is_null());
        }
        message => edit(message),
    }
    if message == before {
        return vec![incoming];
    }
    let text = message.to_string();
    match incoming {
        Incoming::Body { exchange, .. } if message.is_null() => {
            vec![Incoming::Body { exchange, bytes: Vec::new() }]
        }
        _ if message.is_null() => Vec::new(),
        Incoming::Line(_) => vec![Incoming::Line(text.into_bytes())],
        Incoming::Frame { is_text, .. } => vec![Incoming::Frame { is_text, bytes: text.into_bytes() }],
        Incoming::Body { exchange, .. } => vec![Incoming::Body { exchange, bytes: text.into_bytes() }],
        Incoming::Event { exchange, event } => {
            vec![Incoming::Event { exchange, event: Event { data: text, ..event } }]
        }
        Incoming::Request(request) => {
            vec![Incoming::Request(ClientRequest { body: text.into_bytes(), ..request })]
        }
        other => vec![other],
    }
}
