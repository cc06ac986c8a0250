//! Why a step fails.

use agentwire_jsonrpc::WithCauses;
use std::fmt::Display;

use agentwire_acp_client::CallError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why a step fails: a text, and the code of the agent's error where it sent one.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: Option<i64>,
}

impl Failure {
    pub(crate) fn new(why: impl Display) -> Self {
        Self { message: why.to_string(), code: None }
    }

    pub(crate) fn unknown_step(step: &str) -> Self {
        Self { message: format!("no such step: {step}"), code: Some(-32601) }
    }

    pub(crate) fn to_json(&self) -> Value {
        match self.code {
            Some(code) => json!({"message": self.message, "code": code}),
            None => json!({"message": self.message}),
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self {
            code: error.refusal().map(|refusal| refusal.code),
            message: WithCauses::new(&error).to_string(),
        }
    }
}

/// Decodes the params of a request.
pub(crate) fn decode<T: DeserializeOwned>(params: &Value) -> Result<T, Failure> {
    serde_json::from_str(&params.to_string()).map_err(Failure::new)
}

/// Encodes an answer.
pub(crate) fn encode(answer: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(answer).map_err(Failure::new)
}

/// The params that open a session: the working directory, servers and directories of a step.
pub(crate) fn session_params(step: &Value, servers_are_required: bool) -> Result<Value, Failure> {
    let folder = std::env::current_dir().map_err(Failure::new)?;
    let mut params = json!({"cwd": folder});
    if servers_are_required {
        params["mcpServers"] = json!([]);
    }
    for (name, field) in [
        ("cwd", "cwd"),
        ("mcp_servers", "mcpServers"),
        ("additional_directories", "additionalDirectories"),
        ("session", "sessionId"),
    ] {
        if let Some(value) = step.get(name) {
            params[field] = value.clone();
        }
    }
    Ok(params)
}

/// The blocks of a prompt: those of the step, or its text.
pub(crate) fn blocks(step: &Value) -> Value {
    match step.get("blocks") {
        Some(blocks) => blocks.clone(),
        None => json!([{"type": "text", "text": step["text"].as_str().unwrap_or("hello")}]),
    }
}
