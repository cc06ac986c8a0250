//! How many of the requirements that show on the wire have a check.

use serde::Serialize;

use crate::requirements::protocol::Protocol;
use crate::requirements::registry::Registry;
use crate::requirements::requirement::{Requirement, Role, Wire};

/// The coverage of one protocol.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Coverage {
    /// The protocol.
    pub protocol: Protocol,
    /// How many requirements there are.
    pub requirements: usize,
    /// How many of them show on the wire.
    pub testable: usize,
    /// How many of these have a check for each party that they bind.
    pub covered: usize,
    /// How many of the requirements that show only partly are covered as well.
    pub covered_partly: usize,
    /// The requirements that show on the wire and lack a check, with the party.
    pub missing: Vec<(String, Role)>,
}

impl Coverage {
    /// The share of the testable requirements that is covered, in percent.
    pub fn percent(&self) -> f64 {
        let [covered, testable] =
            [self.covered, self.testable].map(|count| f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
        if self.testable == 0 { 100.0 } else { covered * 100.0 / testable }
    }
}

/// The coverage of both protocols.
pub fn coverage(registry: &Registry) -> Vec<Coverage> {
    [Protocol::Acp, Protocol::Mcp].map(|protocol| of(protocol, registry)).to_vec()
}

fn of(protocol: Protocol, registry: &Registry) -> Coverage {
    let all: Vec<&Requirement> = registry.of(protocol).collect();
    let missing = |requirement: &Requirement| -> Vec<Role> {
        requirement.binds.iter().copied().filter(|role| !requirement.checks.contains_key(role)).collect()
    };
    let covered =
        |wire: Wire| all.iter().filter(|known| known.wire == wire && missing(known).is_empty()).count();
    let testable = all.iter().filter(|known| known.wire == Wire::Yes);
    let lacking =
        testable.clone().flat_map(|known| missing(known).into_iter().map(|role| (known.name(), role)));
    Coverage {
        protocol,
        requirements: all.len(),
        testable: testable.clone().count(),
        covered: covered(Wire::Yes),
        covered_partly: covered(Wire::Partly),
        missing: lacking.collect(),
    }
}
