//! The ACP client: prompts `burst N` (N is the first argument), counts the updates, writes their number and the time to
//! stderr.

use std::borrow::Cow;
use std::io;
use std::time::Instant;

use rival_limit::{Envelope, run};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionNotification<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    update: SessionUpdate<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionUpdate<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
    #[serde(borrow)]
    content: ContentBlock<'a>,
}

#[derive(Deserialize)]
struct ContentBlock<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewSessionResponse<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
}

fn main() -> io::Result<()> {
    let updates = std::env::args().nth(1).ok_or_else(|| io::Error::other("usage: limit_client N"))?;
    let mut begun = Instant::now();
    let mut session = String::new();
    let mut seen = 0_u64;
    run(
        |output| output.call(0, "initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} })),
        |line, output| {
            let message: Envelope<'_> = serde_json::from_str(line)?;
            match message.id.map(|id| id.get()) {
                None if message.method == "session/update" => {
                    let note: SessionNotification<'_> = message.params()?;
                    let ours =
                        note.session_id == session && note.update.session_update == "agent_message_chunk";
                    let content = note.update.content;
                    seen += u64::from(ours && content.r#type == "text" && !content.text.is_empty());
                }
                Some("0") => output.call(1, "session/new", json!({ "cwd": "/", "mcpServers": [] }))?,
                Some("1") => {
                    let result = message.result.ok_or_else(|| io::Error::other("session/new failed"))?;
                    session =
                        serde_json::from_str::<NewSessionResponse<'_>>(result.get())?.session_id.into_owned();
                    let prompt = json!([{ "type": "text", "text": format!("burst {updates}") }]);
                    begun = Instant::now();
                    output.call(2, "session/prompt", json!({ "sessionId": session, "prompt": prompt }))?;
                }
                Some("2") => {
                    eprintln!("updates {seen} elapsed_ns {}", begun.elapsed().as_nanos());
                    return Ok(false);
                }
                _ => return Err(io::Error::other(format!("unexpected {line}"))),
            }
            Ok(true)
        },
    )
}
