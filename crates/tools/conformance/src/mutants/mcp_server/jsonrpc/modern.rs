//! Mutants of the checks in `mcp_server/jsonrpc/modern.rs`.

use crate::fault::{Fault, Incoming};
use crate::mcp_server::jsonrpc::modern::address_in;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "RPC-36" => [
        "fetches what a schema refers to" => Box::<Fetches>::default(),
    ],
    "RPC-37" => [
        "takes a schema without a dialect for one of an older dialect" => accepts("wire_pair"),
    ],
    "RPC-37b" => [
        "validates by a dialect that it does not know" => accepts("wire_foreign_dialect"),
    ],
];

/// Connects to the address in the schemas of its tools when one of them is called.
#[derive(Default)]
pub(crate) struct Fetches(Option<String>);

impl Fault for Fetches {
    fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
        if let Some(address) = self.0.as_ref().filter(|_| message["method"] == "tools/call") {
            // The check sees the connection.
            let _connected = TcpStream::connect(address);
        }
        false
    }

    fn incoming(&mut self, incoming: Incoming) -> Vec<Incoming> {
        let address = faults::message_in(&incoming).and_then(|message| address_in(&message));
        self.0 = address.or_else(|| self.0.take());
        vec![incoming]
    }
}

/// Every call of one tool succeeds.
pub(crate) fn accepts(tool: &'static str) -> Box<dyn Fault> {
    let called: Arc<Mutex<Vec<Value>>> = Arc::default();
    let ids = Arc::clone(&called);
    let notes = faults::says_at("tools/call", move |message| {
        if message["params"]["name"] == tool {
            ids.lock().unwrap_or_else(PoisonError::into_inner).push(message["id"].clone());
        }
        Vec::new()
    });
    let edits = faults::response_to("tools/call", move |message| {
        if called.lock().unwrap_or_else(PoisonError::into_inner).contains(&message["id"]) {
            *message = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}});
        }
    });
    faults::both(notes, edits)
}
