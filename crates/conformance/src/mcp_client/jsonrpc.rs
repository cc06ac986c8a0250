//! JSON-RPC as clients have to speak it.

use serde_json::json;

use super::McpClient;
use crate::check::{ANY, Check, audit};
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[audit!("RPC-02", ids_are_strings_or_integers, ANY, [
    "sends null ids" => faults::each_message(|m| if m.get("id").is_some() { m["id"] = json!(null) }),
])];

fn ids_are_strings_or_integers(_: &McpClient, trace: &Trace) -> Outcome {
    for message in trace.messages(Sender::Subject) {
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else {
            continue;
        };
        ensure!(
            id.is_string() || id.is_i64() || id.is_u64(),
            "a string or an integer as the id",
            "`{message}`"
        );
    }
    Ok(())
}
