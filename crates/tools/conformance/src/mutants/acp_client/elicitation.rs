//! Mutants of the checks in `acp_client/client_methods/elicitation.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "EL-16b" => [
        "fetches the URL to show it" => fetches(),
    ],
];

/// Simulates a client that connects to the host of a URL as soon as it gets one.
pub(crate) fn fetches() -> Box<dyn crate::fault::Fault> {
    faults::ignores(|message| {
        if let Some(address) = message["params"]["url"].as_str().and_then(|url| url.split('/').nth(2)) {
            // The check sees the connection, whatever comes of it.
            let _connected = std::net::TcpStream::connect(address);
        }
        false
    })
}
