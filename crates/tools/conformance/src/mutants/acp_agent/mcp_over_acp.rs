//! Mutants of the checks in `acp_agent/session/mcp_over_acp.rs`.

use crate::acp_agent::session::mcp_over_acp::MARK;
use crate::fault::{Fault, Incoming};
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::Value;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "MOA-03b" => [
        "takes the error where there is a result" => Box::new(LineLoss { is_sent: false }),
    ],
];

/// An agent that loses the tool's result after the suite has answered `mcp/message` with a result and an error.
pub(crate) struct LineLoss {
    is_sent: bool,
}

impl Fault for LineLoss {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        let outcome = &message["result"];
        self.is_sent |= outcome.get("result").is_some() && outcome.get("error").is_some();
        false
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        match incoming {
            Incoming::Line(line) if self.is_sent && String::from_utf8_lossy(&line).contains(MARK) => {
                Vec::new()
            }
            other => vec![other],
        }
    }
}
