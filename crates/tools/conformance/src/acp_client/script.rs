//! A conformant agent as a table of answers.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::acp_messages::greeting;
use crate::requirements::revision::Revision;

/// The answer of a played agent to each method. Each entry can be replaced.
pub(crate) struct Script {
    answers: HashMap<&'static str, Result<Value, Value>>,
    left: Vec<&'static str>,
}

impl Script {
    pub(crate) fn new(revision: Revision) -> Self {
        let script = Self { answers: HashMap::new(), left: Vec::new() }
            .on("initialize", greeting(revision))
            .on("session/new", json!({"sessionId": "session-1"}))
            .on("session/resume", json!({}))
            .on("session/close", json!({}))
            .on("session/delete", json!({}))
            .on("session/list", json!({"sessions": []}));
        if revision == Revision::Acp2 {
            return script
                .on("session/prompt", json!({"messageId": "message-1"}))
                .on("auth/login", json!({}))
                .on("auth/logout", json!({}))
                .on("tool_call/cancel", json!({}))
                .on("terminal/cancel", json!({}));
        }
        script
            .on("session/load", json!({}))
            .on("session/prompt", json!({"stopReason": "end_turn"}))
            .on("session/set_mode", json!({}))
            .on("authenticate", json!({}))
            .on("logout", json!({}))
    }

    /// Sets the result of a method.
    pub(crate) fn on(mut self, method: &'static str, result: Value) -> Self {
        self.answers.insert(method, Ok(result));
        self
    }

    /// Sets the error of a method.
    pub(crate) fn fails(mut self, method: &'static str, code: i64, message: &str) -> Self {
        self.answers.insert(method, Err(json!({"code": code, "message": message})));
        self
    }

    /// Leaves requests of a method to the check.
    pub(crate) fn leaves(mut self, method: &'static str) -> Self {
        self.left.push(method);
        self
    }

    /// Changes the result of a method.
    pub(crate) fn change(mut self, method: &'static str, edit: impl FnOnce(&mut Value)) -> Self {
        if let Some(Ok(result)) = self.answers.get_mut(method) {
            edit(result);
        }
        self
    }

    /// The answers. Methods that the script does not know fail; those that it leaves stay with the check.
    pub(crate) fn answers(self) -> impl FnMut(&Value) -> Option<Result<Value, Value>> + Send + 'static {
        move |request| {
            let method = request["method"].as_str()?;
            if self.left.contains(&method) {
                return None;
            }
            let known = self.answers.get(method).cloned();
            Some(known.unwrap_or_else(|| Err(json!({"code": -32601, "message": "method not found"}))))
        }
    }
}
