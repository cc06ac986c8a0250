//! Mutants of the checks in `mcp_client/pagination.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "PAG-03" => [
        "trims cursors" => faults::each_call("tools/list", |m| if let Some(cursor) = m["params"]["cursor"].as_str() {
            m["params"]["cursor"] = json!(cursor.trim());
        }),
        "escapes cursors" => faults::each_call("tools/list", |m| if let Some(cursor) = m["params"]["cursor"].as_str() {
            m["params"]["cursor"] = json!(cursor.replace('%', "%25"));
        }),
        "cuts long cursors" => faults::each_call("tools/list", |m| if let Some(cursor) = m["params"]["cursor"].as_str() {
            m["params"]["cursor"] = json!(cursor.chars().take(1024).collect::<String>());
        }),
    ],
];
