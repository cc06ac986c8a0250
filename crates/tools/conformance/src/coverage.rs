//! How many of the requirements that show on the wire have a check.

use serde::Serialize;

use crate::requirements::protocol::Protocol;
use crate::requirements::registry::Registry;
use crate::requirements::requirement::{Requirement, Role, Wire};
use crate::{acp_agent, acp_client, acp_conductor, acp_proxy, mcp_client, mcp_server};

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
    let all: Vec<&Requirement> = registry.all().iter().filter(|known| known.protocol() == protocol).collect();
    let missing = |requirement: &Requirement| -> Vec<Role> {
        requirement.binds.iter().copied().filter(|role| !has_check(requirement, *role)).collect()
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

/// Whether a check covers a requirement for a party.
fn has_check(requirement: &Requirement, role: Role) -> bool {
    let id = requirement.id.as_str();
    match (requirement.protocol(), role) {
        (Protocol::Acp, Role::Agent) => ids(acp_agent::checks::CHECKS).any(|known| known == id),
        (Protocol::Acp, Role::Client) => ids(acp_client::checks::CHECKS).any(|known| known == id),
        (Protocol::Acp, Role::Proxy) => ids(acp_proxy::checks::CHECKS).any(|known| known == id),
        (Protocol::Acp, Role::Conductor) => ids(acp_conductor::checks::CHECKS).any(|known| known == id),
        (Protocol::Mcp, Role::Server) => ids(mcp_server::checks::CHECKS).any(|known| known == id),
        (Protocol::Mcp, Role::Client) => ids(mcp_client::checks::CHECKS).any(|known| known == id),
        _ => false,
    }
}

/// The requirements of checks.
fn ids<C>(checks: &'static [&'static [crate::check::Check<C>]]) -> impl Iterator<Item = &'static str> {
    checks.iter().copied().flatten().map(|check| check.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Check;

    /// Each check is for a requirement that binds its party and names it, and occurs once.
    fn sound<C>(checks: &'static [&'static [Check<C>]], protocol: Protocol, role: Role) {
        let registry = Registry::load().unwrap();
        let mut seen = Vec::new();
        for check in checks.iter().copied().flatten() {
            let requirement = registry.get(protocol, check.id);
            let requirement = requirement.unwrap_or_else(|| panic!("no requirement is called {}", check.id));
            assert!(requirement.binds.contains(&role), "{} does not bind the {role}", check.id);
            assert!(!seen.contains(&check.id), "{} has two checks for the {role}", check.id);
            seen.push(check.id);
            assert_eq!(requirement.checks.get(&role), Some(&check.path()), "{} of the {role}", check.id);
        }
        for requirement in registry.all().iter().filter(|known| known.protocol() == protocol) {
            let named = requirement.checks.contains_key(&role);
            assert!(!named || seen.contains(&requirement.id.as_str()), "{} names no check", requirement.id);
            let bound = requirement.binds.contains(&role);
            assert!(!bound || named || requirement.unchecked.is_some(), "{} has no check", requirement.id);
        }
    }

    #[test]
    fn checks_are_sound() {
        sound(acp_agent::checks::CHECKS, Protocol::Acp, Role::Agent);
        sound(acp_client::checks::CHECKS, Protocol::Acp, Role::Client);
        sound(acp_proxy::checks::CHECKS, Protocol::Acp, Role::Proxy);
        sound(acp_conductor::checks::CHECKS, Protocol::Acp, Role::Conductor);
        sound(mcp_server::checks::CHECKS, Protocol::Mcp, Role::Server);
        sound(mcp_client::checks::CHECKS, Protocol::Mcp, Role::Client);
    }
}
