//! How the suite answers what an agent asks its client.

use std::collections::HashMap;

use serde_json::{Value, json};

/// The answers of a client that can do everything and allows everything. Files are kept in memory.
pub(super) fn answers() -> impl FnMut(&Value) -> Option<Result<Value, Value>> + Send + 'static {
    let mut files: HashMap<String, String> = HashMap::new();
    let mut terminals = 0_u32;
    move |request| {
        let params = &request["params"];
        let path = params["path"].as_str().unwrap_or_default().to_owned();
        Some(match request["method"].as_str().unwrap_or_default() {
            "session/request_permission" => Ok(permitted(params)),
            "fs/read_text_file" => {
                Ok(json!({"content": files.get(&path).map_or("one\ntwo\nthree\n", String::as_str)}))
            }
            "fs/write_text_file" => {
                files.insert(path, params["content"].as_str().unwrap_or_default().to_owned());
                Ok(json!({}))
            }
            "terminal/create" => {
                terminals += 1;
                Ok(json!({"terminalId": format!("terminal-{terminals}")}))
            }
            "terminal/output" => {
                Ok(json!({"output": "done\n", "truncated": false, "exitStatus": {"exitCode": 0}}))
            }
            "terminal/wait_for_exit" => Ok(json!({"exitCode": 0})),
            "terminal/kill" | "terminal/release" => Ok(json!({})),
            "elicitation/create" => Ok(json!({"action": "decline"})),
            method => Err(json!({"code": -32601, "message": format!("method not found: {method}")})),
        })
    }
}

/// Selects the first option that allows, or else the first of all.
pub(super) fn permitted(params: &Value) -> Value {
    let options = params["options"].as_array().map_or(&[][..], Vec::as_slice);
    let allows = |option: &&Value| option["kind"].as_str().is_some_and(|kind| kind.starts_with("allow"));
    match options.iter().find(allows).or_else(|| options.first()) {
        Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}
