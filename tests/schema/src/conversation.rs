//! The state of one connection between two sides: the negotiated version, and the requests that wait for an answer.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;

use serde_json::Value;

use crate::{Side, Validator};

/// A connection as seen by an observer of both sides: the negotiated version, and the request that each answer
/// belongs to.
#[derive(Clone, Debug)]
pub struct Conversation {
    protocol: Protocol,
    /// For the negotiated version; before that, for the version that the client requested.
    validator: Option<Arc<Validator>>,
    /// The unanswered requests, by sender and id; several if an id is repeated.
    pending: HashMap<(Side, String), VecDeque<PendingRequest>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Acp,
    Mcp,
}

#[derive(Clone, Debug)]
struct PendingRequest {
    method: String,
    as_task: bool,
    /// For the version in which the request was sent.
    validator: Option<Arc<Validator>>,
}

/// The newest revision whose connections begin with `initialize`.
const NEWEST_SESSION: &str = "2025-11-25";

impl Conversation {
    /// Between a client and an agent.
    pub fn acp() -> Self {
        Self::new(Protocol::Acp)
    }

    /// Between a client and a server of tools.
    pub fn mcp() -> Self {
        Self::new(Protocol::Mcp)
    }

    fn new(protocol: Protocol) -> Self {
        Self { protocol, validator: None, pending: HashMap::new() }
    }

    /// Checks a message, or each message of a batch, that one side sends.
    ///
    /// # Errors
    ///
    /// The first fault and its place. Later messages can still be checked.
    pub fn check(&mut self, from: Side, message: &Value) -> Result<(), String> {
        match message {
            Value::Array(batch) => batch.iter().try_for_each(|message| self.one(from, message)),
            message => self.one(from, message),
        }
    }

    /// The validator of the version that was negotiated last.
    pub fn validator(&self) -> Option<&Arc<Validator>> {
        self.validator.as_ref()
    }

    /// The method of the request that a message of `from` answers.
    pub fn answered(&self, from: Side, message: &Value) -> Option<&str> {
        let id = message.get("id").filter(|_| message.get("method").is_none())?.to_string();
        self.pending.get(&(from.other(), id))?.front().map(|asked| asked.method.as_str())
    }

    fn one(&mut self, from: Side, message: &Value) -> Result<(), String> {
        let id = message.get("id").map(Value::to_string);
        let method = message.get("method").and_then(Value::as_str);
        if let Some(version) = self.version(message) {
            let known = match self.protocol {
                Protocol::Acp => Validator::acp(&version),
                Protocol::Mcp => Validator::mcp(&version),
            };
            self.validator = Some(known.or_else(|_| self.newest()).map_err(|fault| fault.to_string())?);
        }
        let asked = match (&id, method) {
            (Some(id), None) => {
                self.pending.get_mut(&(from.other(), id.clone())).and_then(VecDeque::pop_front)
            }
            _ => None,
        };
        let agreed = message.pointer("/result/protocolVersion").is_some();
        let then = asked.as_ref().and_then(|asked| asked.validator.clone()).filter(|_| !agreed);
        let newest = || self.newest().map_err(|fault| fault.to_string());
        let validator = then.or_else(|| self.validator.clone()).map_or_else(newest, Ok)?;
        if let (Some(id), Some(method)) = (id, method) {
            let as_task = message.pointer("/params/task").is_some();
            let request =
                PendingRequest { method: method.to_owned(), as_task, validator: Some(validator.clone()) };
            self.pending.entry((from, id)).or_default().push_back(request);
        }
        let answers = asked.as_ref().map(|asked| asked.method.as_str());
        validator.check(from, message, answers, asked.as_ref().is_some_and(|asked| asked.as_task))
    }

    /// The version that a message selects or requests.
    fn version(&self, message: &Value) -> Option<String> {
        let is_initialize = message.get("method").and_then(Value::as_str) == Some("initialize");
        let answers_initialize = || {
            let id = message.get("id").map(Value::to_string)?;
            let asked = self.pending.get(&(Side::Client, id))?.front()?;
            (asked.method == "initialize" && message.get("method").is_none()).then_some(())
        };
        let place = if is_initialize {
            "/params/protocolVersion"
        } else if answers_initialize().is_some() {
            "/result/protocolVersion"
        } else {
            "/params/_meta/io.modelcontextprotocol~1protocolVersion"
        };
        match (message.pointer(place)?, self.protocol) {
            (Value::String(revision), Protocol::Mcp) => Some(revision.clone()),
            (Value::Number(version), Protocol::Acp) => Some(format!("v{version}")),
            _ => None,
        }
    }

    fn newest(&self) -> io::Result<Arc<Validator>> {
        match self.protocol {
            Protocol::Acp => Validator::acp("v1"),
            Protocol::Mcp => Validator::mcp(NEWEST_SESSION),
        }
    }
}
