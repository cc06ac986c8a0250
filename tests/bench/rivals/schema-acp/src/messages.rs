//! The messages as peers write them: the tag of a union first, the rest in the order of the schema.

use rival_schema::{prose, source_code};
use serde_json::{Result, json};

const SESSION: &str = "sess_01JD3V6Q8M2X9Y4Z7T5R1W0K8N";

/// One piece of an answer, as a model streams them.
pub fn chunk() -> Result<String> {
    Ok(format!(
        r#"{{"sessionId":"{SESSION}","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":{}}},"messageId":"msg_01JD3V7H5C"}}}}"#,
        json!(prose(48)),
    ))
}

/// A completed tool call: an edit and its output, some KiB each.
pub fn tool_call_update() -> Result<String> {
    let output = json!({
        "exitCode": 0,
        "signal": null,
        "durationMs": 1840.5,
        "stdout": source_code(1800),
        "files": (0..20).map(|number| json!({
            "path": format!("/home/dev/agent/src/module_{number}.rs"),
            "lines": 120 + number,
            "changed": number % 3 == 0,
        })).collect::<Vec<_>>(),
    });
    Ok(format!(
        concat!(
            r#"{{"sessionId":"{session}","update":{{"sessionUpdate":"tool_call_update","toolCallId":"call_8fJw2","#,
            r#""kind":"edit","status":"completed","title":"Edit `src/reader.rs`","content":["#,
            r#"{{"type":"content","content":{{"type":"text","text":{text}}}}},"#,
            r#"{{"type":"diff","path":"/home/dev/agent/src/reader.rs","oldText":{old},"newText":{new}}}],"#,
            r#""locations":[{{"path":"/home/dev/agent/src/reader.rs","line":212}},"#,
            r#"{{"path":"/home/dev/agent/src/lib.rs","line":9}}],"#,
            r#""rawInput":{input},"rawOutput":{output}}}}}"#,
        ),
        session = SESSION,
        text = json!(prose(1200)),
        old = json!(source_code(600)),
        new = json!(source_code(700)),
        input = json!({ "command": "cargo test -p agent", "cwd": "/home/dev/agent", "timeoutMs": 120_000 }),
        output = output,
    ))
}

/// A prompt with a link to one file and another file embedded.
pub fn prompt() -> Result<String> {
    Ok(format!(
        concat!(
            r#"{{"sessionId":"{session}","prompt":[{{"type":"text","text":{text}}},"#,
            r#"{{"type":"resource_link","mimeType":"text/x-rust","name":"writer.rs","size":5120,"#,
            r#""uri":"file:///home/dev/agent/src/writer.rs"}},"#,
            r#"{{"type":"resource","resource":{{"mimeType":"text/x-rust","text":{file},"#,
            r#""uri":"file:///home/dev/agent/src/reader.rs"}}}}]}}"#,
        ),
        session = SESSION,
        text = json!(prose(240)),
        file = json!(source_code(2000)),
    ))
}

/// A client with all capabilities.
pub fn initialize() -> Result<String> {
    Ok(concat!(
        r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"#,
        r#""session":{"configOptions":{"boolean":{}},"notices":{}},"auth":{"terminal":true},"#,
        r#""elicitation":{"form":{},"url":{}}},"#,
        r#""clientInfo":{"name":"editor","title":"An Editor","version":"1.4.2"}}"#,
    )
    .to_owned())
}

/// An agent with most capabilities.
pub fn initialize_answer() -> Result<String> {
    Ok(concat!(
        r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"#,
        r#""promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"#,
        r#""mcpCapabilities":{"http":true,"sse":true},"#,
        r#""sessionCapabilities":{"list":{},"delete":{},"resume":{},"close":{}},"auth":{"logout":{}}},"#,
        r#""authMethods":[{"id":"login","name":"Log in","description":"Opens a page in the browser."},"#,
        r#"{"id":"api-key","name":"API key","description":"Reads the key from the environment."}],"#,
        r#""agentInfo":{"name":"agent","title":"An Agent","version":"0.9.0"}}"#,
    )
    .to_owned())
}
