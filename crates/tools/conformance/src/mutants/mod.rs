//! The wrong programs that each check has to catch.
//!
//! A mutant is a conformant program with a fault between it and the suite. Most mutants are patches: `mutants/PROTOCOL/AREA.toml`
//! lists them by requirement and party. Those that need code are in the module of their party.

mod acp_agent;
mod acp_client;
mod acp_conductor;
mod acp_proxy;
mod edit;
pub(crate) mod faults;
mod files;
mod mcp_client;
mod mcp_server;
mod mutant;
mod patch;
pub(crate) mod result;
mod run;

use crate::mutants::mutant::{FaultOf, Mutant};
use crate::subject::SubjectKind;

/// The mutants of the checks for one kind of subject, each with its requirement and its name.
pub(super) struct Mutants(Vec<(String, String, FaultOf)>);

impl Mutants {
    /// Those that are patches, and those that need code.
    pub(crate) fn load(kind: SubjectKind) -> Result<Self, crate::RegistryError> {
        let mut all = files::load(kind)?;
        for Mutant { id, name, fault } in of(kind) {
            all.push(((*id).into(), (*name).into(), Box::new(fault)));
        }
        Ok(Self(all))
    }

    /// The mutants of a requirement, each with its name.
    pub(crate) fn of(&self, id: &str) -> impl Iterator<Item = (&str, &FaultOf)> {
        self.0.iter().filter(move |(known, ..)| known == id).map(|(_, name, fault)| (name.as_str(), fault))
    }
}

/// The mutants that need code.
fn of(kind: SubjectKind) -> impl Iterator<Item = &'static Mutant> {
    let all: &[&[&[Mutant]]] = match kind {
        SubjectKind::AcpAgent => acp_agent::MUTANTS,
        SubjectKind::AcpClient => acp_client::MUTANTS,
        SubjectKind::AcpProxy => &[&[acp_proxy::MUTANTS]],
        SubjectKind::AcpConductor => &[&[acp_conductor::MUTANTS]],
        SubjectKind::McpServer => mcp_server::MUTANTS,
        SubjectKind::McpClient => mcp_client::MUTANTS,
    };
    all.iter().copied().flatten().copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirements::registry::Registry;

    #[test]
    fn every_check_has_mutants_and_every_mutant_a_check() {
        let registry = Registry::load().unwrap();
        for kind in SubjectKind::ALL {
            let mutants = Mutants::load(*kind).unwrap();
            let requirements = registry.of(kind.protocol());
            for requirement in requirements.filter(|known| known.checks.contains_key(&kind.role())) {
                assert!(mutants.of(&requirement.id).next().is_some(), "{} of the {kind}", requirement.name());
            }
            for (id, name, _) in &mutants.0 {
                let requirement = registry.get(kind.protocol(), id);
                let is_checked = requirement.is_some_and(|known| known.checks.contains_key(&kind.role()));
                assert!(is_checked, "{id} of the {kind}: {name}");
            }
        }
    }
}
