//! An ACP agent around any endpoint for chat completions in the form of OpenAI's API, such as OpenAI itself, Ollama, vLLM or
//! llama.cpp.
//!
//! ```sh
//! cargo build --package agentwire --example openai_agent --features acp-sessions,http-client,stdio
//! export OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=qwen3 # and OPENAI_API_KEY, where a key is needed
//! agentwire chat --agent 'target/debug/examples/openai_agent sessions' 'What is in this folder?'
//! ```
//!
//! It streams the answer, offers the tools of the session's MCP servers and two of its own, asks before it runs a command,
//! stops when the user cancels, and keeps sessions in the folder that its argument names.

mod endpoint;
mod tools;

use std::env;

use agentwire::acp::sessions::schema::{Implementation, StopReason};
use agentwire::acp::sessions::{BoxError, FileStore, Message, Turn, TurnError, TurnHandler, agent};
use agentwire::serde_json::{Value, json};
use agentwire::stdio::stdio;
use endpoint::Endpoint;
use serde::Serialize;
use tools::Tool;

/// How often the model may call tools in a turn, and read their results.
const ROUND_LIMIT: usize = 50;

/// How much of the conversation the model is given, in bytes. The oldest turns are left out.
const HISTORY_LIMIT: usize = 400_000;

struct Model {
    endpoint: Endpoint,
    name: String,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let sessions = env::args_os().nth(1).ok_or("usage: openai_agent DIRECTORY")?;
    let base = env::var("OPENAI_BASE_URL").unwrap_or_else(|_| "https://api.openai.com/v1".to_owned());
    let name = env::var("OPENAI_MODEL").map_err(|_| "OPENAI_MODEL is not set")?;
    let endpoint = Endpoint::new(&base, env::var("OPENAI_API_KEY").ok())?;
    agent(Model { endpoint, name })
        .info(Implementation::new("openai-agent", env!("CARGO_PKG_VERSION")))
        .store(FileStore::open(sessions)?)
        .on_warning(|warning| eprintln!("{warning}"))
        .serve(stdio()?)
        .await?;
    Ok(())
}

/// A request. Not by `json!`, which sorts members: a model reads those of a server's schema in the order that its author chose.
#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    stream: bool,
    messages: Vec<Value>,
    tools: Vec<Tool>,
}

impl TurnHandler for Model {
    /// Asks the model, runs the tools that it calls, and asks again, until it calls none.
    async fn run(&self, turn: Turn) -> Result<StopReason, BoxError> {
        for _ in 0..ROUND_LIMIT {
            let (messages, tools) = (messages(&turn).await?, tools::list(&turn).await?);
            let request = Request { model: &self.name, stream: true, messages, tools };
            // A cancellation drops these futures, and so closes the connection to the endpoint.
            let mut answer = turn.unless_cancelled(self.endpoint.ask(&request)).await??;
            while let Some(text) = turn.unless_cancelled(answer.next_text()).await?? {
                turn.say(text).await?;
            }
            let (calls, finish_reason) = answer.end();
            if calls.is_empty() {
                return Ok(match finish_reason.as_deref() {
                    Some("length") => StopReason::MaxTokens,
                    Some("content_filter") => StopReason::Refusal,
                    _ => StopReason::EndTurn,
                });
            }
            for call in calls {
                tools::run(&turn, &call).await?;
            }
        }
        Ok(StopReason::MaxTurnRequests)
    }
}

/// The conversation, as the endpoint takes it. It is that of the store, so a loaded session goes on where it ended.
async fn messages(turn: &Turn) -> Result<Vec<Value>, TurnError> {
    let system = format!("You are a coding agent. The working directory is {}.", turn.cwd().display());
    let mut messages = vec![json!({ "role": "system", "content": system })];
    for message in turn.messages().byte_limit(HISTORY_LIMIT).await? {
        match message {
            Message::User(user) => messages.push(json!({ "role": "user", "content": user.text() })),
            Message::Assistant(step) => {
                let calls = step.tool_uses.iter().map(|call| {
                    let function = json!({ "name": call.name, "arguments": call.arguments.as_str() });
                    json!({ "id": call.id, "type": "function", "function": function })
                });
                let calls: Vec<_> = calls.collect();
                let mut message = json!({ "role": "assistant", "content": step.text });
                if !calls.is_empty() {
                    message["tool_calls"] = calls.into(); // an empty list is refused
                }
                messages.push(message);
                messages.extend(step.tool_uses.iter().map(
                    |call| json!({ "role": "tool", "tool_call_id": call.id, "content": call.result.text() }),
                ));
            }
            _ => {}
        }
    }
    Ok(messages)
}
