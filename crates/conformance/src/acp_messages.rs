//! What both sides of an ACP connection say first, and the envelope between conductors and proxies.

use std::time::Duration;

use serde_json::{Value, json};

use crate::revision::Revision;

/// How long a program that was just started may take for its first message. Some take half a minute on a busy machine.
pub(crate) const START_TIME: Duration = Duration::from_secs(60);

/// The version as a number.
pub(crate) fn version(revision: Revision) -> u16 {
    if revision == Revision::Acp2 { 2 } else { 1 }
}

/// The params of `initialize`.
pub(crate) fn initialize(revision: Revision, capabilities: Value) -> Value {
    let info = json!({"name": "conformance", "version": "1.0.0"});
    if revision == Revision::Acp2 {
        return json!({"protocolVersion": 2, "capabilities": capabilities, "info": info});
    }
    json!({"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": info})
}

/// The capabilities of a client that can do everything.
pub(crate) fn capabilities(revision: Revision) -> Value {
    if revision == Revision::Acp2 {
        return json!({"auth": {"terminal": {}}, "elicitation": {"form": {}, "url": {}}});
    }
    json!({
        "fs": {"readTextFile": true, "writeTextFile": true},
        "terminal": true,
        "auth": {"terminal": true},
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    })
}

/// The answer of an agent that can do everything.
pub(crate) fn greeting(revision: Revision) -> Value {
    let info = json!({"name": "conformance", "version": "1.0.0"});
    if revision == Revision::Acp2 {
        let session = json!({
            "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
            "mcp": {"stdio": {}, "http": {}},
            "delete": {},
            "additionalDirectories": {},
        });
        return json!({"protocolVersion": 2, "capabilities": {"session": session}, "info": info});
    }
    let capabilities = json!({
        "loadSession": true,
        "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true},
        "mcpCapabilities": {"http": true, "sse": true},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}},
    });
    json!({"protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": info})
}

/// The method of an envelope between a conductor and a proxy.
pub(crate) const SUCCESSOR: &str = "proxy/successor";

/// Whether a message is an envelope with a message of a method in it.
pub(crate) fn wraps(message: &Value, method: &str) -> bool {
    message["method"] == SUCCESSOR && message["params"]["method"] == method
}

/// Whether a message is the response to a request with an id.
pub(crate) fn is_response(message: &Value, id: &Value) -> bool {
    message.get("method").is_none() && message.get("id") == Some(id)
}

/// How a request that passes proxies is answered: a result or an error of any form.
pub(crate) struct Answer {
    member: &'static str,
    value: Value,
}

impl Answer {
    /// Results of several types, and an error with data.
    pub(crate) fn several() -> Vec<Self> {
        let error = json!({"code": -31999, "message": "It failed.", "data": {"why": [1, null]}});
        let results = [json!({"result": {"two": null}}), json!([1, "two"]), json!("text"), Value::Null];
        let results = results.into_iter().map(|value| Self { member: "result", value });
        results.chain([Self { member: "error", value: error }]).collect()
    }

    /// The response to a request.
    pub(crate) fn to(&self, request: &Value) -> Value {
        let mut response = json!({"jsonrpc": "2.0", "id": request["id"]});
        response[self.member] = self.value.clone();
        response
    }

    /// Whether a response has the same result or error.
    pub(crate) fn is_in(&self, response: &Value) -> bool {
        response.get(self.member) == Some(&self.value)
    }

    /// What such a response is expected to have.
    pub(crate) fn expected(&self) -> String {
        format!("the {} of the wrapped request, `{}`, as that of `{SUCCESSOR}`", self.member, self.value)
    }
}
