//! The mutants that are patches, from the files in `mutants/`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::mutant::FaultOf;
use super::patch::{Patch, fault};
use crate::requirements::protocol::Protocol;
use crate::requirements::registry::{RegistryError, files};
use crate::requirements::requirement::Role;
use crate::subject::SubjectKind;

const FILES: &[(Protocol, &str, &str)] = files!("mutants");

/// By requirement, party and name.
type File = BTreeMap<String, BTreeMap<Role, BTreeMap<String, Patches>>>;

/// The patches of one mutant.
#[derive(Deserialize)]
#[serde(untagged)]
enum Patches {
    One(Box<Patch>),
    Several(Vec<Patch>),
}

/// Reads the mutants of one kind of subject: the requirement, the name, and what makes the fault.
pub(super) fn load(kind: SubjectKind) -> Result<Vec<(String, String, FaultOf)>, RegistryError> {
    let mut all = Vec::new();
    for (_, file, text) in FILES.iter().filter(|(protocol, ..)| *protocol == kind.protocol()) {
        let read: File =
            toml::from_str(text).map_err(|error| RegistryError { file, why: error.to_string() })?;
        for (id, mut parties) in read {
            for (name, patches) in parties.remove(&kind.role()).unwrap_or_default() {
                let patches = match patches {
                    Patches::One(patch) => vec![*patch],
                    Patches::Several(patches) => patches,
                };
                let patches: Arc<[Patch]> = patches.into();
                let made: FaultOf = Box::new(move || fault(&patches));
                all.push((id.clone(), name, made));
            }
        }
    }
    Ok(all)
}
