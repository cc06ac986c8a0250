//! The ACP agent: a prompt `burst N` sends N updates, any other text ends the turn at once.

use std::borrow::Cow;
use std::io;

use rival_limit::{Envelope, Output, run};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptRequest<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    prompt: Vec<ContentBlock<'a>>,
}

#[derive(Serialize, Deserialize)]
struct ContentBlock<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromptResponse {
    stop_reason: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionNotification<'a> {
    session_id: &'a str,
    update: SessionUpdate<'a>,
}

#[derive(Serialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
enum SessionUpdate<'a> {
    AgentMessageChunk { content: ContentBlock<'a> },
}

fn main() -> io::Result<()> {
    run(|_| Ok(()), |line, output| handle(serde_json::from_str(line)?, output).map(|()| true))
}

fn handle(message: Envelope<'_>, output: &mut Output) -> io::Result<()> {
    let Some(id) = message.id else { return Ok(()) };
    match &*message.method {
        "session/prompt" => {
            let prompt: PromptRequest<'_> = message.params()?;
            for block in &prompt.prompt {
                let updates: u64 =
                    block.text.strip_prefix("burst ").and_then(|count| count.parse().ok()).unwrap_or(0);
                for number in 0..updates {
                    let content =
                        ContentBlock { r#type: "text".into(), text: format!("chunk {number}").into() };
                    let update = SessionUpdate::AgentMessageChunk { content };
                    output.notify(
                        "session/update",
                        SessionNotification { session_id: &prompt.session_id, update },
                    )?;
                }
            }
            output.answer(id, PromptResponse { stop_reason: "end_turn" })
        }
        "session/new" => output.answer(id, json!({ "sessionId": "session-1" })),
        "initialize" => output.answer(id, json!({ "protocolVersion": 1, "agentCapabilities": {} })),
        other => Err(io::Error::other(format!("unexpected {other}"))),
    }
}
