//! Faults from small parts: most mutants are one of these with a closure.

use serde_json::Value;

use crate::fault::{ClientRequest, Fault, Head, Incoming};
use crate::link::events::Event;

/// Changes each JSON-RPC message of the subject, whatever carries it. A message that becomes null is lost.
pub(crate) fn each_message(edit: impl FnMut(&mut Value) + Send + 'static) -> Box<dyn Fault> {
    Box::new(Messages { edit: Box::new(edit) })
}

/// Changes each response of the subject.
pub(crate) fn each_response(mut edit: impl FnMut(&mut Value) + Send + 'static) -> Box<dyn Fault> {
    each_message(move |message| {
        if message.get("method").is_none() && message.is_object() {
            edit(message);
        }
    })
}

/// Changes each request or notification of one method that the subject sends.
pub(crate) fn each_call(
    method: &'static str,
    mut edit: impl FnMut(&mut Value) + Send + 'static,
) -> Box<dyn Fault> {
    each_message(move |message| {
        if message.get("method").is_some_and(|name| name == method) {
            edit(message);
        }
    })
}

/// Changes the subject's responses to the suite's requests of one method.
pub(crate) fn response_to(
    method: &'static str,
    edit: impl FnMut(&mut Value) + Send + 'static,
) -> Box<dyn Fault> {
    Box::new(Responses { method, ids: Vec::new(), edit: Box::new(edit) })
}

/// Changes the result of the suite's requests of one method; errors pass.
pub(crate) fn result_of(
    method: &'static str,
    mut edit: impl FnMut(&mut Value) + Send + 'static,
) -> Box<dyn Fault> {
    response_to(method, move |response| {
        if let Some(result) = response.get_mut("result") {
            edit(result);
        }
    })
}

/// Loses the subject's responses to one method.
pub(crate) fn loses_response_to(method: &'static str) -> Box<dyn Fault> {
    response_to(method, |response| *response = Value::Null)
}

/// Keeps the suite's messages of one method from the subject, which then behaves as one that ignores them.
pub(crate) fn ignores(method: &'static str) -> Box<dyn Fault> {
    Box::new(Ignores(method))
}

/// Says something when the suite sends a message of one method: the closure gets it and returns what is forged.
pub(crate) fn says_at(
    method: &'static str,
    say: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Box<dyn Fault> {
    Box::new(SaysAt { method, say: Box::new(say) })
}

/// Says something before each response to one method.
pub(crate) fn says_before_response_to(
    method: &'static str,
    say: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Box<dyn Fault> {
    Box::new(SaysAround { method, ids: Vec::new(), before: true, say: Box::new(say) })
}

/// Says something after each response to one method.
pub(crate) fn says_after_response_to(
    method: &'static str,
    say: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Box<dyn Fault> {
    Box::new(SaysAround { method, ids: Vec::new(), before: false, say: Box::new(say) })
}

/// Changes each line as bytes. One that becomes empty is lost.
pub(crate) fn each_line(mut edit: impl FnMut(&mut Vec<u8>) + Send + 'static) -> Box<dyn Fault> {
    incoming(move |incoming| match incoming {
        Incoming::Line(mut line) => {
            edit(&mut line);
            if line.is_empty() { Vec::new() } else { vec![Incoming::Line(line)] }
        }
        other => vec![other],
    })
}

/// Changes the status and headers of each response over HTTP.
pub(crate) fn each_head(mut edit: impl FnMut(&mut Head) + Send + 'static) -> Box<dyn Fault> {
    incoming(move |incoming| match incoming {
        Incoming::Head(mut head) => {
            edit(&mut head);
            vec![Incoming::Head(head)]
        }
        other => vec![other],
    })
}

/// Changes each event of an event stream: nothing, the same, or more.
pub(crate) fn each_event(mut edit: impl FnMut(Event) -> Vec<Event> + Send + 'static) -> Box<dyn Fault> {
    incoming(move |incoming| match incoming {
        Incoming::Event { exchange, event } => {
            edit(event).into_iter().map(|event| Incoming::Event { exchange, event }).collect()
        }
        other => vec![other],
    })
}

/// Changes each request of a client over HTTP: nothing, the same, or more.
pub(crate) fn each_request(
    mut edit: impl FnMut(ClientRequest) -> Vec<ClientRequest> + Send + 'static,
) -> Box<dyn Fault> {
    incoming(move |incoming| match incoming {
        Incoming::Request(request) => edit(request).into_iter().map(Incoming::Request).collect(),
        other => vec![other],
    })
}

/// Keeps the end of the conversation from the suite.
pub(crate) fn never_closes() -> Box<dyn Fault> {
    incoming(|incoming| match incoming {
        Incoming::Closed | Incoming::StreamEnd { .. } => Vec::new(),
        other => vec![other],
    })
}

/// Changes anything that arrives.
pub(crate) fn incoming(change: impl FnMut(Incoming) -> Vec<Incoming> + Send + 'static) -> Box<dyn Fault> {
    Box::new(Anything(Box::new(change)))
}

/// Two faults of one program.
pub(crate) fn both(first: Box<dyn Fault>, second: Box<dyn Fault>) -> Box<dyn Fault> {
    Box::new(Both(first, second))
}

type Edit = Box<dyn FnMut(&mut Value) + Send>;
type Say = Box<dyn FnMut(&Value) -> Vec<Value> + Send>;

struct Messages {
    edit: Edit,
}

impl Fault for Messages {
    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        edit_messages(incoming, &mut self.edit)
    }
}

struct Responses {
    method: &'static str,
    ids: Vec<Value>,
    edit: Edit,
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

struct Ignores(&'static str);

impl Fault for Ignores {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        message.get("method").is_some_and(|name| name == self.0)
    }
}

struct SaysAt {
    method: &'static str,
    say: Say,
}

impl Fault for SaysAt {
    fn outgoing(&mut self, message: &Value, forged: &mut Vec<Value>) -> bool {
        if message.get("method").is_some_and(|name| name == self.method) {
            forged.extend((self.say)(message));
        }
        false
    }
}

struct SaysAround {
    method: &'static str,
    ids: Vec<Value>,
    before: bool,
    say: Say,
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

struct Anything(Box<dyn FnMut(Incoming) -> Vec<Incoming> + Send>);

impl Fault for Anything {
    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        (self.0)(incoming)
    }
}

struct Both(Box<dyn Fault>, Box<dyn Fault>);

impl Fault for Both {
    fn outgoing(&mut self, message: &Value, forged: &mut Vec<Value>) -> bool {
        let first = self.0.outgoing(message, forged);
        self.1.outgoing(message, forged) || first
    }

    fn exchange(&mut self, exchange: u32, request: &str) {
        self.0.exchange(exchange, request);
        self.1.exchange(exchange, request);
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        self.0.incoming(incoming).into_iter().flat_map(|incoming| self.1.incoming(incoming)).collect()
    }
}

fn note_id(message: &Value, method: &str, ids: &mut Vec<Value>) {
    for message in message.as_array().map_or(std::slice::from_ref(message), Vec::as_slice) {
        if let (Some(id), true) =
            (message.get("id"), message.get("method").is_some_and(|name| name == method))
        {
            ids.push(id.clone());
        }
    }
}

fn is_response_to(message: &Value, ids: &[Value]) -> bool {
    message.get("method").is_none() && message.get("id").is_some_and(|id| ids.contains(id))
}

/// The message that something carries, if it is JSON.
fn message_in(incoming: &Incoming) -> Option<Value> {
    match incoming {
        Incoming::Line(bytes) | Incoming::Body { bytes, .. } => serde_json::from_slice(bytes).ok(),
        Incoming::Event { event, .. } => serde_json::from_str(&event.data).ok(),
        Incoming::Request(request) => serde_json::from_slice(&request.body).ok(),
        _ => None,
    }
}

/// Edits the message that something carries. What carries none passes; a message that becomes null is lost.
fn edit_messages(incoming: Incoming, edit: &mut dyn FnMut(&mut Value)) -> Vec<Incoming> {
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
