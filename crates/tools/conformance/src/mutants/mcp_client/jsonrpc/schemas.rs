//! Mutants of the checks in `mcp_client/jsonrpc/schemas.rs`.

use crate::fault::Fault;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::Value;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-36" => [
        "fetches what a schema refers to" => Box::new(Fetches),
    ],
];

/// Connects to the address of each reference in a list of tools.
pub(crate) struct Fetches;

impl Fault for Fetches {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        let reference = message.pointer("/result/tools/0/inputSchema/properties/text/$ref");
        let address = reference
            .and_then(Value::as_str)
            .and_then(|url| url.split('/').nth(2)?.parse::<SocketAddr>().ok());
        if let Some(address) = address {
            // The check sees the connection.
            let _connected = TcpStream::connect_timeout(&address, Duration::from_secs(1));
        }
        false
    }
}
