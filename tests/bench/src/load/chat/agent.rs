//! The agent of the rows that draw: it sends the updates of one turn as fast as they are read.

use std::io::{self, Write};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// The number of updates in the turn.
pub(super) const UPDATES: usize = 100_000;

/// The bytes of text in a chunk. Together they are 8 MB.
pub(super) const CHUNK: usize = 80;

/// The text at the end of the turn.
pub(super) const LAST: &str = "endofthelastchunk";

/// Text as models write it; a chunk begins anywhere in it.
const TEXT: &str = "# What the change does\n\nThe reader takes **lines** from the pipe, and `flush` writes them. It is *not* called for an \
empty line, which keeps the number of writes low.\n\n- The first case is the usual one: a line, its end, and nothing behind it.\n\
- The second has a `\\r` before the end, which some programs write.\n\n```rust\nfn flush(lines: &mut Vec<String>) -> usize {\n    \
let count = lines.len();\n    lines.clear();\n    count\n}\n```\n\n1. Run the tests: [how](https://example.com/tests).\n2. Look at the \
output.\n\n| case | lines |\n|---|---|\n| usual | 1 |\n| none | 0 |\n\n";

/// The kind of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Chunks of one message in Markdown.
    Chunks,
    /// Tool calls with output that grows, plans, thoughts, usage and chunks.
    Updates,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Chunks => "chunks",
            Self::Updates => "updates",
        }
    }

    fn update(self, index: usize) -> Value {
        match (self, index % 10) {
            (Self::Chunks, _) | (Self::Updates, 0) => message(&chunk(index)),
            (Self::Updates, 1) => {
                json!({ "sessionUpdate": "tool_call", "toolCallId": call(index), "title": "cargo test",
                "kind": "execute", "status": "in_progress" })
            }
            (Self::Updates, 9) => {
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": call(index), "status": "completed" })
            }
            (Self::Updates, 2) => json!({ "sessionUpdate": "plan", "entries": [
                { "content": "Look at the reader", "priority": "high", "status": "completed" },
                { "content": format!("Change it, step {index}"), "priority": "medium", "status": "in_progress" } ] }),
            (Self::Updates, 3) => json!({ "sessionUpdate": "usage_update", "used": index, "size": UPDATES }),
            (Self::Updates, 4) => json!({ "sessionUpdate": "agent_thought_chunk",
                "content": { "type": "text", "text": chunk(index) } }),
            (Self::Updates, lines) => {
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": call(index), "content": [
                { "type": "content", "content": { "type": "text", "text": output(lines) } }] })
            }
        }
    }
}

/// The tool call of ten updates.
fn call(index: usize) -> String {
    format!("call-{}", index / 10)
}

/// The output of a tool, of which each update holds all that was written so far.
fn output(lines: usize) -> String {
    (5..=lines).map(|line| format!("test reader::case_{line} ... ok\n")).collect()
}

/// A part of the text, which is repeated as often as needed.
fn chunk(index: usize) -> String {
    let from = index * CHUNK % TEXT.len();
    TEXT.bytes().cycle().skip(from).take(CHUNK).map(char::from).collect()
}

fn message(text: &str) -> Value {
    json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } })
}

/// Answers a client on stdin and stdout until it goes. `kind` is the name of what a turn consists of.
pub(super) fn run(kind: &str) -> Result<()> {
    let kind = [Kind::Chunks, Kind::Updates]
        .into_iter()
        .find(|known| known.name() == kind)
        .context("no such turn")?;
    serve(kind, io::stdin().lock(), io::stdout().lock())
}

fn serve(kind: Kind, input: impl io::BufRead, mut output: impl Write) -> Result<()> {
    for line in input.lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let result = match request["method"].as_str() {
            Some("initialize") => {
                json!({ "protocolVersion": 1, "agentInfo": { "name": "bench", "version": "1" } })
            }
            Some("session/new") => json!({ "sessionId": "s" }),
            Some("session/prompt") => {
                turn(kind, &mut output)?;
                json!({ "stopReason": "end_turn" })
            }
            _ if request.get("id").is_none() => continue,
            method => bail!("an unexpected method: {method:?}"),
        };
        writeln!(output, "{}", json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))?;
        output.flush()?;
    }
    Ok(())
}

/// Sends the updates and a last chunk, in writes as large as a pipe.
fn turn(kind: Kind, output: &mut impl Write) -> Result<()> {
    let mut output = io::BufWriter::with_capacity(64 * 1024, output);
    let last = message(&format!("\n\n{LAST}\n"));
    for update in (0..UPDATES).map(|index| kind.update(index)).chain([last]) {
        let params = json!({ "sessionId": "s", "update": update });
        writeln!(output, "{}", json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))?;
    }
    Ok(output.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updates(kind: Kind) -> Vec<Value> {
        let request = br#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{}}"#;
        let mut output = Vec::new();
        serve(kind, &request[..], &mut output).unwrap();
        let mut lines: Vec<Value> = String::from_utf8(output)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.pop().unwrap()["result"]["stopReason"], "end_turn");
        lines.into_iter().map(|mut line| line["params"]["update"].take()).collect()
    }

    #[test]
    fn chunks_are_8_mb_in_100_000_updates() {
        let updates = updates(Kind::Chunks);
        let texts: String =
            updates.iter().map(|update| update["content"]["text"].as_str().unwrap()).collect();
        assert_eq!((updates.len(), texts.len()), (UPDATES + 1, 8_000_000 + LAST.len() + 3));
        assert!(texts.starts_with(&TEXT.repeat(2)));
    }

    #[test]
    fn updates_are_of_all_kinds() {
        let updates = updates(Kind::Updates);
        let count = |kind: &str| updates.iter().filter(|update| update["sessionUpdate"] == kind).count();
        assert_eq!(
            [
                "agent_message_chunk",
                "tool_call",
                "tool_call_update",
                "plan",
                "usage_update",
                "agent_thought_chunk"
            ]
            .map(count),
            [10_001, 10_000, 50_000, 10_000, 10_000, 10_000]
        );
        assert_eq!(updates[8]["content"][0]["content"]["text"].as_str().unwrap().lines().count(), 4);
    }
}
