//! Faults of clients that several areas share.

use serde_json::{Value, json};

use crate::fault::{Fault, Incoming};
use crate::faults;

/// The client sends more after each of its own messages of a method.
pub(super) fn adds_after(
    method: &'static str,
    mut more: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Box<dyn Fault> {
    faults::incoming(move |incoming| {
        let message = faults::message_in(&incoming).filter(|message| message["method"] == method);
        let forged = message.map(|message| more(&message)).unwrap_or_default();
        std::iter::once(incoming).chain(forged.into_iter().map(Incoming::Forged)).collect()
    })
}

/// The client sends a request of its own before each of its messages of a method.
pub(super) fn adds_before(at: &'static str, method: &'static str, params: fn() -> Value) -> Box<dyn Fault> {
    faults::incoming(move |incoming| {
        let is_there = faults::message_in(&incoming).is_some_and(|message| message["method"] == at);
        let forged = json!({"jsonrpc": "2.0", "id": "forged", "method": method, "params": params()});
        is_there.then_some(Incoming::Forged(forged)).into_iter().chain([incoming]).collect()
    })
}

/// The client sends a request of its own right after `initialize`.
pub(super) fn also_requests(method: &'static str, params: fn() -> Value) -> Box<dyn Fault> {
    adds_after("initialize", move |_| {
        vec![json!({"jsonrpc": "2.0", "id": "forged", "method": method, "params": params()})]
    })
}

/// The client adds a block to each prompt.
pub(super) fn adds_to_prompts(block: fn() -> Value) -> Box<dyn Fault> {
    faults::each_call("session/prompt", move |message| {
        if let Some(prompt) = message["params"]["prompt"].as_array_mut() {
            prompt.push(block());
        }
    })
}

/// The client ends when it reads a message that a test accepts.
pub(super) fn dies_at(is_deadly: impl FnMut(&Value) -> bool + Send + 'static) -> Box<dyn Fault> {
    Box::new(Dies { is_deadly: Box::new(is_deadly), is_dead: false })
}

/// The client ends when it reads a message of a method.
pub(super) fn dies_at_method(method: &'static str) -> Box<dyn Fault> {
    dies_at(move |message| message["method"] == method)
}

/// The client ends when it reads an update of a kind.
pub(super) fn dies_at_update(kind: &'static str) -> Box<dyn Fault> {
    dies_at(move |message| message["params"]["update"]["sessionUpdate"] == kind)
}

/// The client ignores the suite's messages that a test accepts.
pub(super) fn ignores(test: impl FnMut(&Value) -> bool + Send + 'static) -> Box<dyn Fault> {
    Box::new(Ignores(Box::new(test)))
}

/// The client's answers to a method succeed with a result of the mutant's choice, whatever they were.
pub(super) fn always(method: &'static str, result: fn() -> Value) -> Box<dyn Fault> {
    faults::response_to(method, move |response| {
        *response = json!({"jsonrpc": "2.0", "id": response["id"], "result": result()});
    })
}

/// The client's answers to a method fail with a code, whatever they were.
pub(super) fn always_fails(method: &'static str, code: i64) -> Box<dyn Fault> {
    faults::response_to(method, move |response| {
        let error = json!({"code": code, "message": "It failed."});
        *response = json!({"jsonrpc": "2.0", "id": response["id"], "error": error});
    })
}

/// The client answers a method with an empty object, and does nothing.
pub(super) fn only_claims(method: &'static str) -> Box<dyn Fault> {
    Box::new(Claims(method))
}

struct Claims(&'static str);

impl Fault for Claims {
    fn outgoing(&mut self, message: &Value, forged: &mut Vec<Value>) -> bool {
        let is_of = message["method"] == self.0;
        if is_of {
            forged.push(json!({"jsonrpc": "2.0", "id": message["id"], "result": {}}));
        }
        is_of
    }
}

struct Dies {
    is_deadly: Box<dyn FnMut(&Value) -> bool + Send>,
    is_dead: bool,
}

impl Fault for Dies {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        self.is_dead |= (self.is_deadly)(message);
        self.is_dead
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        if self.is_dead { Vec::new() } else { vec![incoming] }
    }
}

struct Ignores(Box<dyn FnMut(&Value) -> bool + Send>);

impl Fault for Ignores {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        (self.0)(message)
    }
}
