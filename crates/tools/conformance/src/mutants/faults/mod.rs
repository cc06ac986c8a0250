//! Faults from small parts: most mutants are one of these with a closure.

mod parts;

use self::parts::{Anything, Both, Ignores, InResponse, Messages, Misreads, Responses, SaysAround, SaysAt};
pub(crate) use self::parts::{edit_messages, is_response_to, message_in, note_id};
use crate::fault::{Answer, ClientRequest, Fault, Head, Incoming};
use crate::link::events::Event;
use serde_json::Value;

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

/// Keeps the suite's messages that a test accepts from the subject, which then behaves as one that ignores them.
pub(crate) fn ignores(test: impl FnMut(&Value) -> bool + Send + 'static) -> Box<dyn Fault> {
    Box::new(Ignores(Box::new(test)))
}

/// Forges a message when the suite sends a message of one method: the closure gets it and returns what is forged.
pub(crate) fn says_at(
    method: &'static str,
    say: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Box<dyn Fault> {
    Box::new(SaysAt { method, say: Box::new(say) })
}

/// Forges a message before each response to one method.
pub(crate) fn says_before_response_to(
    method: &'static str,
    say: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Box<dyn Fault> {
    Box::new(SaysAround { method, ids: Vec::new(), before: true, say: Box::new(say) })
}

/// Forges a message after each response to one method.
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

/// Changes the outcome of each of a client's steps. One that becomes null is lost, as that of a client that hangs.
pub(crate) fn each_outcome(mut edit: impl FnMut(&mut Value) + Send + 'static) -> Box<dyn Fault> {
    incoming(move |incoming| match incoming {
        Incoming::Outcome(mut outcome) => {
            edit(&mut outcome);
            if outcome.is_null() { Vec::new() } else { vec![Incoming::Outcome(outcome)] }
        }
        other => vec![other],
    })
}

/// Forges a message before each message of one method that the subject sends.
pub(crate) fn says_before_call(
    method: &'static str,
    mut say: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Box<dyn Fault> {
    incoming(move |incoming| {
        let message =
            message_in(&incoming).filter(|message| message.get("method").is_some_and(|name| name == method));
        let said = message.map(|message| say(&message)).unwrap_or_default();
        said.into_iter().map(Incoming::Forged).chain([incoming]).collect()
    })
}

/// Forges a message after each message of one method that the subject sends.
pub(crate) fn says_after_call(
    method: &'static str,
    mut say: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Box<dyn Fault> {
    incoming(move |incoming| {
        let message =
            message_in(&incoming).filter(|message| message.get("method").is_some_and(|name| name == method));
        let said = message.map(|message| say(&message)).unwrap_or_default();
        std::iter::once(incoming).chain(said.into_iter().map(Incoming::Forged)).collect()
    })
}

/// Changes anything that arrives.
pub(crate) fn incoming(change: impl FnMut(Incoming) -> Vec<Incoming> + Send + 'static) -> Box<dyn Fault> {
    Box::new(Anything(Box::new(change)))
}

/// Changes what arrives in response to the suite's HTTP requests that a test accepts. The test gets each request as text:
/// `METHOD target HTTP/1.1`, a line `name: value` for each header, an empty line, and the body.
pub(crate) fn in_response_to(
    accept: impl FnMut(&str) -> bool + Send + 'static,
    change: impl FnMut(Incoming) -> Vec<Incoming> + Send + 'static,
) -> Box<dyn Fault> {
    Box::new(InResponse { accept: Box::new(accept), exchanges: Vec::new(), change: Box::new(change) })
}

/// Changes the status and headers of the responses to such requests.
pub(crate) fn answer_head(
    accept: impl FnMut(&str) -> bool + Send + 'static,
    mut edit: impl FnMut(&mut Head) + Send + 'static,
) -> Box<dyn Fault> {
    in_response_to(accept, move |incoming| match incoming {
        Incoming::Head(mut head) => {
            edit(&mut head);
            vec![Incoming::Head(head)]
        }
        other => vec![other],
    })
}

/// Changes the status of the responses to such requests.
pub(crate) fn answer_status(
    accept: impl FnMut(&str) -> bool + Send + 'static,
    status: u16,
) -> Box<dyn Fault> {
    answer_head(accept, move |head| head.status = status)
}

/// Changes the messages in the responses to such requests. A message that becomes null is lost.
pub(crate) fn answer_messages(
    accept: impl FnMut(&str) -> bool + Send + 'static,
    mut edit: impl FnMut(&mut Value) + Send + 'static,
) -> Box<dyn Fault> {
    in_response_to(accept, move |incoming| edit_messages(incoming, &mut edit))
}

/// Two faults of one program.
pub(crate) fn both(first: Box<dyn Fault>, second: Box<dyn Fault>) -> Box<dyn Fault> {
    Box::new(Both(first, second))
}

/// Changes the suite's answers over HTTP, so that the client behaves as one that misreads them.
pub(crate) fn misreads(change: impl FnMut(Answer) -> Option<Answer> + Send + 'static) -> Box<dyn Fault> {
    Box::new(Misreads(Box::new(change)))
}

/// Changes each request of a client over HTTP whose method is one of HTTP's.
pub(crate) fn each_verb(
    verb: &'static str,
    mut edit: impl FnMut(&mut ClientRequest) + Send + 'static,
) -> Box<dyn Fault> {
    each_request(move |mut request| {
        if request.method == verb {
            edit(&mut request);
        }
        vec![request]
    })
}

/// Keeps some requests of a client over HTTP from the suite.
pub(crate) fn loses_requests(
    mut lost: impl FnMut(&ClientRequest) -> bool + Send + 'static,
) -> Box<dyn Fault> {
    each_request(move |request| if lost(&request) { Vec::new() } else { vec![request] })
}

/// Makes some requests of a client over HTTP twice; the closure makes the second from the first.
pub(crate) fn adds_request(
    mut second: impl FnMut(&ClientRequest) -> Option<ClientRequest> + Send + 'static,
) -> Box<dyn Fault> {
    each_request(move |request| {
        let second = second(&request);
        std::iter::once(request).chain(second).collect()
    })
}

/// Makes an error of a response.
pub(crate) fn refuse(response: &mut Value, code: impl Into<Value>) {
    let code = code.into();
    *response = serde_json::json!({
        "jsonrpc": "2.0", "id": response["id"], "error": {"code": code, "message": "refused"},
    });
}
