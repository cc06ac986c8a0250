//! Mutants as data: which messages a fault changes, and how.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::edit::{filled, insert, remove};
use super::faults::{self, edit_messages, is_response_to, message_in, note_id};
use crate::fault::{Fault, Incoming};
use crate::link::events::Event;

/// A change of what arrives from the subject, or of what reaches it.
///
/// Keys are JSON pointers into the message, or into the result for `result_of`. TOML has no null: the text `{null}` stands for
/// it. A text such as `{/id}` stands for that member of the message at hand.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Patch {
    // Which messages of the subject change.
    each_message: bool,
    each_response: bool,
    each_call: Option<String>,
    response_to: Option<String>,
    result_of: Option<String>,
    /// The outcome of each of a client's steps, `{"result": …}` or `{"error": …}`.
    each_outcome: bool,
    /// The same, and the outcome becomes another one.
    steps: Option<Steps>,

    // Which parts of HTTP change: each response, each request of a client with a method, or the responses to requests of the
    // suite by the text of these requests.
    each_head: bool,
    each_request: Option<String>,
    request_begins: Option<String>,
    request_has: Vec<String>,
    request_lacks: Vec<String>,

    // When the subject sends more: at a message of the suite, or beside one of its own.
    at: Option<String>,
    before_response_to: Option<String>,
    after_response_to: Option<String>,
    before_call: Option<String>,
    after_call: Option<String>,

    /// A method of the suite's messages that do not reach the subject.
    ignore: Option<String>,
    /// None of the suite's messages that meet the conditions reaches the subject.
    ignore_each: bool,
    /// The same, and after one of them nothing arrives.
    dies_at: bool,
    /// The end of the conversation does not arrive.
    stays_open: bool,

    // Conditions. A message that does not meet them is not counted for `nth` and `after`.
    when: BTreeMap<String, Value>,
    /// Neither missing nor null.
    has: Vec<String>,
    lacks: Vec<String>,
    contains: Option<String>,
    has_header: Option<String>,
    nth: Option<usize>,
    after: usize,

    // Changes.
    set: BTreeMap<String, Value>,
    remove: Vec<String>,
    /// Adds an item to a list.
    push: BTreeMap<String, Value>,
    /// Cuts a list to a length.
    shorten: BTreeMap<String, usize>,
    lose: bool,
    /// Makes an error with this code of a response.
    refuse: Option<Value>,
    /// Makes this result of a response.
    accept: Option<Value>,
    send: Vec<Value>,
    status: Option<u16>,
    set_header: BTreeMap<String, String>,
    /// Only where the header is present.
    replace_header: BTreeMap<String, String>,
    remove_header: Vec<String>,
    body: Option<Value>,
}

/// The outcome of a client's steps.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Steps {
    Fail,
    Succeed,
    Hang,
}

/// The fault that patches make together.
pub(super) fn fault(patches: &Arc<[Patch]>) -> Box<dyn Fault> {
    let one = |at| -> Box<dyn Fault> {
        let patches = Arc::clone(patches);
        Box::new(Patched { patches, at, ids: Vec::new(), exchanges: Vec::new(), count: 0, is_dead: false })
    };
    (1..patches.len()).fold(one(0), |fault, at| faults::both(fault, one(at)))
}

/// One run with a patch.
struct Patched {
    patches: Arc<[Patch]>,
    at: usize,
    /// The suite's requests whose responses change.
    ids: Vec<Value>,
    /// The suite's HTTP requests whose responses change.
    exchanges: Vec<u32>,
    count: usize,
    is_dead: bool,
}

impl Fault for Patched {
    fn outgoing(&mut self, message: &Value, forged: &mut Vec<Value>) -> bool {
        let patches = Arc::clone(&self.patches);
        let patch = &patches[self.at];
        let answered =
            [&patch.response_to, &patch.result_of, &patch.before_response_to, &patch.after_response_to];
        for method in answered.into_iter().flatten() {
            note_id(message, method, &mut self.ids);
        }
        if is_call(message, patch.at.as_ref()) && patch.is_met(message, &mut self.count) {
            forged.extend(patch.sent(message));
        }
        let is_meant = patch.ignore_each || patch.dies_at || is_call(message, patch.ignore.as_ref());
        let is_kept = is_meant && patch.is_met(message, &mut self.count);
        self.is_dead |= patch.dies_at && is_kept;
        self.is_dead || is_kept
    }

    fn exchange(&mut self, exchange: u32, request: &str) {
        if self.patches[self.at].is_about(request) {
            self.exchanges.push(exchange);
        }
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        let patches = Arc::clone(&self.patches);
        let patch = &patches[self.at];
        match incoming {
            _ if self.is_dead => Vec::new(),
            Incoming::Closed | Incoming::StreamEnd { .. } if patch.stays_open => Vec::new(),
            Incoming::Outcome(outcome) => self.outcome(patch, outcome),
            Incoming::Head(mut head) => {
                if patch.each_head || self.exchanges.contains(&head.exchange) {
                    head.status = patch.status.unwrap_or(head.status);
                    patch.change_headers(&mut head.headers);
                }
                vec![Incoming::Head(head)]
            }
            Incoming::Request(mut request) if patch.each_request.is_some() => {
                if patch.each_request.as_ref() == Some(&request.method) {
                    if patch.lose {
                        return Vec::new();
                    }
                    patch.change_headers(&mut request.headers);
                }
                vec![Incoming::Request(request)]
            }
            Incoming::Body { exchange, bytes } if self.exchanges.contains(&exchange) => match &patch.body {
                Some(body) => vec![Incoming::Body { exchange, bytes: body.to_string().into_bytes() }],
                None => self.messages(patch, Incoming::Body { exchange, bytes }),
            },
            Incoming::Event { exchange, event } if self.exchanges.contains(&exchange) => match &patch.body {
                Some(body) => {
                    vec![Incoming::Event { exchange, event: Event { data: body.to_string(), ..event } }]
                }
                None => self.messages(patch, Incoming::Event { exchange, event }),
            },
            other if patch.is_about_requests() => vec![other],
            other => self.messages(patch, other),
        }
    }
}

impl Patched {
    fn outcome(&mut self, patch: &Patch, mut outcome: Value) -> Vec<Incoming> {
        let is_meant = patch.each_outcome || patch.steps.is_some();
        if is_meant && patch.is_met(&outcome, &mut self.count) {
            match patch.steps {
                Some(Steps::Fail) => outcome = json!({"error": {"message": "failed"}}),
                Some(Steps::Succeed) => outcome = json!({"result": {}}),
                Some(Steps::Hang) => return Vec::new(),
                None => patch.change(&mut outcome),
            }
        }
        if outcome.is_null() { Vec::new() } else { vec![Incoming::Outcome(outcome)] }
    }

    /// Changes the messages that something carries, and sends more before or after it.
    fn messages(&mut self, patch: &Patch, incoming: Incoming) -> Vec<Incoming> {
        let Self { ids, count, .. } = self;
        let mut sent = Vec::new();
        let mut is_before = false;
        if let Some(message) = message_in(&incoming).filter(|_| !patch.send.is_empty()) {
            let is_response = is_response_to(&message, ids);
            is_before = patch.before_response_to.is_some() && is_response
                || is_call(&message, patch.before_call.as_ref());
            let is_after = patch.after_response_to.is_some() && is_response
                || is_call(&message, patch.after_call.as_ref());
            if (is_before || is_after) && patch.is_met(&message, count) {
                sent.extend(patch.sent(&message).map(Incoming::Forged));
            }
        }
        let changed = edit_messages(incoming, &mut |message| {
            if let Some(part) = patch.part(message, ids)
                && patch.is_met(part, count)
            {
                patch.change(part);
            }
        });
        if is_before {
            sent.into_iter().chain(changed).collect()
        } else {
            changed.into_iter().chain(sent).collect()
        }
    }
}

impl Patch {
    /// The part of a message of the subject that changes: all of it, or its result.
    fn part<'m>(&self, message: &'m mut Value, ids: &[Value]) -> Option<&'m mut Value> {
        let is_response = message.is_object() && message.get("method").is_none();
        let is_meant = self.each_message
            || self.each_response && is_response
            || is_call(message, self.each_call.as_ref())
            || self.response_to.is_some() && is_response_to(message, ids)
            || self.is_about_requests();
        if is_meant {
            return Some(message);
        }
        let is_result = self.result_of.is_some() && is_response_to(message, ids);
        message.get_mut("result").filter(|_| is_result)
    }

    /// Whether the patch is for the responses to some of the suite's HTTP requests.
    fn is_about_requests(&self) -> bool {
        self.request_begins.is_some() || !self.request_has.is_empty() || !self.request_lacks.is_empty()
    }

    /// Whether it is for the response to an HTTP request of the suite.
    fn is_about(&self, request: &str) -> bool {
        self.is_about_requests()
            && self.request_begins.as_ref().is_none_or(|start| request.starts_with(start))
            && self.request_has.iter().all(|part| request.contains(part))
            && !self.request_lacks.iter().any(|part| request.contains(part))
    }

    /// Whether a message meets the conditions.
    fn is_met(&self, message: &Value, count: &mut usize) -> bool {
        let has = |at: &String| message.pointer(at).is_some_and(|value| !value.is_null());
        let equals = |(at, value): (&String, &Value)| {
            let value = filled(value, message);
            message.pointer(at) == Some(&value)
        };
        let text = message.to_string();
        let contains = self.contains.as_ref().is_none_or(|part| text.contains(part));
        if !(self.when.iter().all(equals)
            && self.has.iter().all(has)
            && !self.lacks.iter().any(has)
            && contains)
        {
            return false;
        }
        *count += 1;
        *count > self.after && self.nth.is_none_or(|nth| nth == *count)
    }

    fn change(&self, message: &mut Value) {
        for (at, value) in &self.set {
            let value = filled(value, message);
            insert(message, at, value);
        }
        self.remove.iter().for_each(|at| remove(message, at));
        for (at, value) in &self.push {
            let value = filled(value, message);
            if let Some(Value::Array(list)) = message.pointer_mut(at) {
                list.push(value);
            }
        }
        for (at, length) in &self.shorten {
            if let Some(Value::Array(list)) = message.pointer_mut(at) {
                list.truncate(*length);
            }
        }
        if let Some(code) = &self.refuse {
            faults::refuse(message, code.clone());
        }
        if let Some(result) = &self.accept {
            let result = filled(result, message);
            *message = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        }
        if self.lose {
            *message = Value::Null;
        }
    }

    fn change_headers(&self, headers: &mut Vec<(String, String)>) {
        let has = |name: &String| headers.iter().any(|(known, _)| known == name);
        if !self.has_header.as_ref().is_none_or(has) {
            return;
        }
        let replaced: Vec<_> = self.replace_header.iter().filter(|(name, _)| has(name)).collect();
        let set: Vec<_> = self.set_header.iter().chain(replaced).collect();
        headers.retain(|(known, _)| {
            !self.remove_header.contains(known) && !set.iter().any(|(name, _)| *name == known)
        });
        headers.extend(set.into_iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// The messages that the subject sends beside one.
    fn sent(&self, message: &Value) -> impl Iterator<Item = Value> {
        self.send.iter().map(|sent| {
            let mut sent = filled(sent, message);
            sent["jsonrpc"] = json!("2.0");
            sent
        })
    }
}

fn is_call(message: &Value, method: Option<&String>) -> bool {
    method.is_some_and(|method| message.get("method").is_some_and(|name| name == method))
}
