//! A conformant MCP server as a table of answers.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::requirements::revision::Revision;

/// The answers of a played server to each method. Each entry can be replaced. Methods without an entry are refused, so that no
/// step of a client waits for ever.
pub(crate) struct Script {
    answers: HashMap<&'static str, Result<Value, Value>>,
    /// The methods whose requests stay with the check.
    left: HashSet<&'static str>,
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
        let mut script = Self { answers: HashMap::new(), left: HashSet::new(), revision };
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
        if revision.is_legacy() {
            // A client may ask first whether the server does without a session.
            for method in ["ping", "resources/subscribe", "resources/unsubscribe"] {
                script = script.on(method, json!({}));
            }
            script.on(
                "initialize",
                json!({
                    "protocolVersion": revision.as_str(),
                    "capabilities": capabilities,
                    "serverInfo": {"name": "conformance", "version": "1.0.0"},
                }),
            )
        } else {
            // A subscription has no response before its end.
            script.leaves("subscriptions/listen").on(
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

    /// Sets the result of a method exactly.
    pub(crate) fn on_exactly(mut self, method: &'static str, result: Value) -> Self {
        self.answers.insert(method, Ok(result));
        self
    }

    /// The answer to a method.
    pub(crate) fn result(&self, method: &str) -> Value {
        self.answers.get(method).cloned().and_then(Result::ok).unwrap_or_default()
    }

    /// Changes the capabilities that the server declares.
    pub(crate) fn capabilities(mut self, edit: impl FnOnce(&mut Value)) -> Self {
        let opening = if self.revision.is_legacy() { "initialize" } else { "server/discover" };
        if let Some(Ok(result)) = self.answers.get_mut(opening) {
            edit(&mut result["capabilities"]);
        }
        self
    }

    /// Leaves requests of a method to the check.
    pub(crate) fn leaves(mut self, method: &'static str) -> Self {
        self.answers.remove(method);
        self.left.insert(method);
        self
    }

    /// The answers. Methods that the script leaves out stay with the check.
    pub(crate) fn answers(self) -> impl FnMut(&Value) -> Option<Result<Value, Value>> + Send + 'static {
        self.answers_after(|_, _| None)
    }

    fn answer(&self, request: &Value) -> Option<Result<Value, Value>> {
        let method = request["method"].as_str()?;
        let answer = self.answers.get(method).cloned();
        let refuse = || Err(json!({"code": -32601, "message": "Method not found"}));
        answer.or_else(|| (!self.left.contains(method)).then(refuse))
    }

    /// The same, after a function that answers what it wants to.
    pub(crate) fn answers_after(
        self,
        mut first: impl FnMut(&Script, &Value) -> Option<Result<Value, Value>> + Send + 'static,
    ) -> impl FnMut(&Value) -> Option<Result<Value, Value>> + Send + 'static {
        move |request| first(&self, request).or_else(|| self.answer(request))
    }

    /// Adds what every result has since 2026-07-28.
    pub(crate) fn complete(&self, method: &str, mut result: Value) -> Value {
        if self.revision.is_legacy() {
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
