//! A conformant agent as a table of answers.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::revision::Revision;

/// What a played agent answers to each method. Each entry can be replaced.
pub(crate) struct Script {
    answers: HashMap<&'static str, Result<Value, Value>>,
}

impl Script {
    pub(crate) fn new(revision: Revision) -> Self {
        let script = Self { answers: HashMap::new() };
        let info = json!({"name": "conformance", "version": "1.0.0"});
        if revision == Revision::Acp2 {
            return script
                .on("initialize", json!({"protocolVersion": 2, "capabilities": {}, "info": info}))
                .on("session/new", json!({"sessionId": "session-1"}))
                .on("session/prompt", json!({}));
        }
        let capabilities = json!({
            "loadSession": true,
            "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true},
            "mcpCapabilities": {"http": true, "sse": true},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
        });
        script
            .on(
                "initialize",
                json!({"protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": info}),
            )
            .on("session/new", json!({"sessionId": "session-1"}))
            .on("session/load", json!({}))
            .on("session/resume", json!({}))
            .on("session/close", json!({}))
            .on("session/delete", json!({}))
            .on("session/list", json!({"sessions": []}))
            .on("session/prompt", json!({"stopReason": "end_turn"}))
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
        self.answers.remove(method);
        self
    }

    /// What is answered; methods that the script does not know, and those that it leaves, stay with the check.
    pub(crate) fn answers(self) -> impl FnMut(&Value) -> Option<Result<Value, Value>> + Send + 'static {
        move |request| self.answers.get(request["method"].as_str()?).cloned()
    }
}
