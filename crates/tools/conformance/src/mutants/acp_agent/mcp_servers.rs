//! Mutants of the checks in `acp_agent/session/mcp_servers.rs`.

use crate::fault::{Fault, Incoming};
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::Value;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "SES-22" => [
        "ignores the servers" => faults::each_request(|_| Vec::new()),
    ],
    "SES-24" => [
        "ignores the servers" => ignores_servers(1),
    ],
    "SES-24b" => [
        "uses the first server only" => ignores_servers(2),
    ],
    "SES-26" => [
        "leaves them out" => ignores_servers(2),
    ],
];

/// An agent that sends nothing to the servers of its session with a number.
pub(crate) fn ignores_servers(number: usize) -> Box<dyn Fault> {
    struct IgnoresServers(usize);
    impl Fault for IgnoresServers {
        fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
            let has_servers = message.pointer("/params/mcpServers/0").is_some();
            self.0 = self.0.saturating_sub(usize::from(has_servers));
            false
        }

        fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
            let method = faults::message_in(&incoming).map(|message| message["method"].clone());
            let is_of_mcp = |method: &Value| {
                ["server/discover", "tools/list", "initialize"].iter().any(|name| *method == *name)
            };
            let is_lost = self.0 == 0 && method.as_ref().is_some_and(is_of_mcp);
            if is_lost { Vec::new() } else { vec![incoming] }
        }
    }
    Box::new(IgnoresServers(number))
}
