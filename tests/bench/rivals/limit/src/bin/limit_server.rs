//! The MCP server: the tools `echo {text}` and `burst {n}`, and `TOOLS` further ones.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use rival_limit::{Envelope, Output, run};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct CallToolRequest<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: &'a RawValue,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    progress_token: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Echo<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Burst {
    n: u64,
}

#[derive(Serialize)]
struct CallToolResult<'a> {
    content: [ContentBlock<'a>; 1],
}

#[derive(Serialize)]
struct ContentBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressNotification<'a> {
    progress_token: &'a RawValue,
    progress: u64,
    total: u64,
}

type Tool = fn(&CallToolRequest<'_>, &RawValue, &mut Output) -> io::Result<()>;

fn main() -> io::Result<()> {
    let more: usize = std::env::var("TOOLS").ok().and_then(|tools| tools.parse().ok()).unwrap_or(0);
    let mut tools: HashMap<String, Tool> = (0..more).map(|n| (format!("more-{n}"), echo as Tool)).collect();
    tools.insert("echo".into(), echo);
    tools.insert("burst".into(), burst);
    run(|_| Ok(()), |line, output| handle(serde_json::from_str(line)?, &tools, output).map(|()| true))
}

fn handle(message: Envelope<'_>, tools: &HashMap<String, Tool>, output: &mut Output) -> io::Result<()> {
    let Some(id) = message.id else { return Ok(()) };
    match &*message.method {
        "tools/call" => {
            let call: CallToolRequest<'_> = message.params()?;
            let tool =
                tools.get(&*call.name).ok_or_else(|| io::Error::other(format!("no tool {}", call.name)))?;
            tool(&call, id, output)
        }
        "tools/list" => {
            let schema = json!({ "type": "object" });
            let tools: Vec<_> =
                tools.keys().map(|name| json!({ "name": name, "inputSchema": schema })).collect();
            output.answer(id, json!({ "tools": tools }))
        }
        "initialize" => output.answer(
            id,
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "limit", "version": "0.1.0" },
            }),
        ),
        other => Err(io::Error::other(format!("unexpected {other}"))),
    }
}

fn echo(call: &CallToolRequest<'_>, id: &RawValue, output: &mut Output) -> io::Result<()> {
    let Echo { text } = serde_json::from_str(call.arguments.get())?;
    output.answer(id, CallToolResult { content: [ContentBlock { r#type: "text", text: &text }] })
}

fn burst(call: &CallToolRequest<'_>, id: &RawValue, output: &mut Output) -> io::Result<()> {
    let Burst { n } = serde_json::from_str(call.arguments.get())?;
    if let Some(progress_token) = call.meta.as_ref().and_then(|meta| meta.progress_token) {
        for progress in 1..=n {
            let note = ProgressNotification { progress_token, progress, total: n };
            output.notify("notifications/progress", note)?;
        }
    }
    output.answer(id, CallToolResult { content: [ContentBlock { r#type: "text", text: "done" }] })
}
