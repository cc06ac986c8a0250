//! The messages, written as peers write them: the tag of a union first, the rest in the order of the schema.

use rival_schema::{prose, source_code};
use serde_json::{Value, json};

/// A call with arguments of the usual size.
pub fn call() -> String {
    format!(
        r#"{{"name":"edit_file","arguments":{},"_meta":{{"progressToken":41}}}}"#,
        json!({
            "path": "/home/dev/agent/src/reader.rs",
            "edits": [
                { "line": 212, "old": source_code(120), "new": source_code(180) },
                { "line": 298, "old": source_code(60), "new": "" },
            ],
            "dryRun": false,
        }),
    )
}

/// A file's contents.
pub fn text() -> String {
    format!(r#"{{"content":[{{"type":"text","text":{}}}]}}"#, json!(source_code(2000)))
}

/// Rows of a table, once for programs and once as text for the model.
pub fn structured() -> String {
    let rows: Vec<Value> = (0..20)
        .map(|number| {
            json!({
                "id": number,
                "name": format!("Customer {number}"),
                "balance": 17.25 * f64::from(number),
                "active": number % 2 == 0,
                "tags": ["retail", "europe"],
            })
        })
        .collect();
    let table = json!({ "rows": rows, "total": 20 });
    format!(
        r#"{{"content":[{{"type":"text","text":{}}}],"structuredContent":{table},"isError":false}}"#,
        json!(table.to_string()),
    )
}

pub fn progress() -> String {
    r#"{"progressToken":41,"progress":50,"total":200,"message":"Reading src/reader.rs"}"#.to_owned()
}

/// As many tools as a client with several servers sees.
pub fn tools() -> String {
    let tools: Vec<String> = (0..200).map(tool).collect();
    format!(r#"{{"tools":[{}],"nextCursor":"eyJwYWdlIjoyfQ=="}}"#, tools.join(","))
}

fn tool(number: usize) -> String {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "Where to look, an absolute path." },
            "pattern": { "type": "string", "description": "What to look for.", "minLength": 1 },
            "limit": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 100 },
            "mode": { "type": "string", "enum": ["fast", "exact", "fuzzy"], "description": "How to compare." },
            "exclude": { "type": "array", "items": { "type": "string" }, "description": "What to leave out." },
            "options": {
                "type": "object",
                "properties": { "follow": { "type": "boolean" }, "depth": { "type": ["integer", "null"] } },
                "additionalProperties": false,
            },
        },
        "required": ["path", "pattern"],
        "additionalProperties": false,
    });
    let output = match number % 4 {
        0 => {
            r#","outputSchema":{"type":"object","properties":{"matches":{"type":"array","items":{"type":"string"}}},"required":["matches"]}"#
        }
        _ => "",
    };
    format!(
        concat!(
            r#"{{"name":"search_{number}","title":"Search {number}","description":{description},"#,
            r#""inputSchema":{schema}{output},"annotations":{{"readOnlyHint":true,"openWorldHint":true}}}}"#,
        ),
        number = number,
        description = json!(prose(160)),
        schema = schema,
        output = output,
    )
}

/// A server that can do all that 2025-11-25 knows without tasks.
pub fn initialize_answer() -> String {
    format!(
        concat!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{{"logging":{{}},"completions":{{}},"#,
            r#""prompts":{{"listChanged":true}},"resources":{{"subscribe":true,"listChanged":true}},"#,
            r#""tools":{{"listChanged":true}}}},"#,
            r#""serverInfo":{{"name":"files","title":"Files","version":"2.1.0","websiteUrl":"https://example.com"}},"#,
            r#""instructions":{instructions}}}"#,
        ),
        instructions = json!(prose(300)),
    )
}
