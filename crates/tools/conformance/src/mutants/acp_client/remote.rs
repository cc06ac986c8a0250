//! Mutants of the checks in `acp_client/remote.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "HT-13" => [
        "forgets them" => faults::each_request(|mut request| {
            request.remove("cookie");
            vec![request]
        }),
    ],
    "HT-15" => [
        "does not name it" => faults::each_request(|mut request| {
            request.remove("acp-protocol-version");
            vec![request]
        }),
    ],
];
