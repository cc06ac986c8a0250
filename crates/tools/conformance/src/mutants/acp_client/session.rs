//! Mutants of the checks in `acp_client/session/mod.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::Value;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "SES-27" => [
        "leaves out the type of an HTTP server" => faults::each_call("session/new", |message| {
            let servers = message["params"]["mcpServers"].as_array_mut();
            for server in servers.into_iter().flatten().filter_map(Value::as_object_mut) {
                server.remove("type");
            }
        }),
    ],
];
