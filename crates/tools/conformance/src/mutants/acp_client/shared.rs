//! Faults that mutants of several checks share.

use crate::fault::{Fault, Incoming};
use crate::mutants::faults;
use serde_json::Value;

/// The client sends more after each of its own messages of a method.
pub(crate) fn adds_after(
    method: &'static str,
    mut more: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Box<dyn Fault> {
    faults::incoming(move |incoming| {
        let message = faults::message_in(&incoming).filter(|message| message["method"] == method);
        let forged = message.map(|message| more(&message)).unwrap_or_default();
        std::iter::once(incoming).chain(forged.into_iter().map(Incoming::Forged)).collect()
    })
}

/// The client ends when it reads a message that a test accepts.
pub(crate) fn dies_at(is_deadly: impl FnMut(&Value) -> bool + Send + 'static) -> Box<dyn Fault> {
    Box::new(Dies { is_deadly: Box::new(is_deadly), is_dead: false })
}

/// The client ignores the suite's messages that a test accepts.
pub(crate) fn ignores(test: impl FnMut(&Value) -> bool + Send + 'static) -> Box<dyn Fault> {
    Box::new(Ignores(Box::new(test)))
}

pub(crate) struct Dies {
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

pub(crate) struct Ignores(Box<dyn FnMut(&Value) -> bool + Send>);

impl Fault for Ignores {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        (self.0)(message)
    }
}
