//! A conformant MCP server as a table of answers.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::revision::Revision;

/// What a played server answers to each method. Each entry can be replaced.
pub(crate) struct Script {
    answers: HashMap<&'static str, Result<Value, Value>>,
    revision: Revision,
}

impl Script {
    pub(crate) fn new(revision: Revision) -> Self {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let tools =
            json!({"tools": [{"name": "echo", "description": "Returns its text", "inputSchema": schema}]});
        let resources = json!({"resources": [{"uri": "test://one", "name": "one"}]});
        let prompts = json!({"prompts": [{"name": "greet"}]});
        let capabilities =
            json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}, "prompts": {}});
        let called = json!({"content": [{"type": "text", "text": "done"}]});
        let read = json!({"contents": [{"uri": "test://one", "text": "one"}]});
        let prompt = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]});
        let mut script = Self { answers: HashMap::new(), revision };
        for (method, result) in [
            ("tools/list", tools),
            ("resources/list", resources),
            ("resources/templates/list", json!({"resourceTemplates": []})),
            ("prompts/list", prompts),
            ("tools/call", called),
            ("resources/read", read),
            ("prompts/get", prompt),
        ] {
            script = script.on(method, result);
        }
        if revision.has_sessions() {
            script.on("ping", json!({})).on(
                "initialize",
                json!({
                    "protocolVersion": revision.as_str(),
                    "capabilities": capabilities,
                    "serverInfo": {"name": "conformance", "version": "1.0.0"},
                }),
            )
        } else {
            script.on(
                "server/discover",
                json!({"supportedVersions": [revision.as_str()], "capabilities": capabilities}),
            )
        }
    }

    /// Sets the result of a method.
    pub(crate) fn on(mut self, method: &'static str, result: Value) -> Self {
        self.answers.insert(method, Ok(self.complete(method, result)));
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

    /// Adds what every result has since 2026-07-28.
    fn complete(&self, method: &str, mut result: Value) -> Value {
        if self.revision.has_sessions() {
            return result;
        }
        let cached =
            ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"];
        if let Some(members) = result.as_object_mut() {
            members.entry("resultType").or_insert_with(|| json!("complete"));
            if cached.contains(&method) || method == "server/discover" {
                members.entry("ttlMs").or_insert_with(|| json!(0));
                members.entry("cacheScope").or_insert_with(|| json!("public"));
            }
            members.entry("_meta").or_insert_with(
                || json!({"io.modelcontextprotocol/serverInfo": {"name": "conformance", "version": "1.0.0"}}),
            );
        }
        result
    }
}
