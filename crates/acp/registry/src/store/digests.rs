//! The digests of what was installed: another file for the same version is refused.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use agentwire_jsonrpc::read;
use serde::{Deserialize, Serialize};

use crate::changed::ChangedVersion;
use crate::digest::Digest;
use crate::error::RegistryError;
use crate::files::{read_text, write_file};
use crate::plan::{Kind, Plan};
use crate::platform::platform;

/// How many bytes the digests of an agent may have.
const MAX_BYTES: u64 = 4 << 20;
/// How many digests of an agent are remembered.
const MAX_DIGESTS: usize = 1000;

/// The digests of an agent's versions. They stay when the agent is removed.
pub(super) struct Digests {
    path: PathBuf,
    known: BTreeMap<String, Known>,
}

/// The digest that was installed for a version.
#[derive(Serialize, Deserialize)]
struct Known {
    digest: String,
    /// The URL or package that it came from.
    source: String,
}

impl Digests {
    /// Reads the digests. A damaged file is an error: without it, another archive could take the place of the remembered one.
    /// The error reports it, and a person decides.
    pub(super) fn read(path: &Path) -> Result<Self, RegistryError> {
        let unreadable = |why| RegistryError::UnreadableDigests { path: path.to_owned(), why };
        let known = match read_text(path, MAX_BYTES) {
            Ok(text) => read(&text).map_err(|error| unreadable(error.to_string()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        Ok(Self { path: path.to_owned(), known })
    }

    /// Refuses what differs from the plan's digest, or from what was installed before. What has no digest differs from what was
    /// installed with one.
    pub(super) fn check(&self, plan: &Plan, found: Option<&Digest>) -> Result<(), RegistryError> {
        let found = found.map(Digest::as_str);
        if let (Some(expected), Some(found)) = (plan.digest.as_deref(), found)
            && expected != found
        {
            return Err(RegistryError::OtherDigest {
                what: plan.source.clone(),
                found: found.to_owned(),
                expected: expected.to_owned(),
            });
        }
        match self.known.get(&key(plan)).filter(|known| Some(&*known.digest) != found) {
            None => Ok(()),
            Some(known) => Err(RegistryError::Changed(Box::new(ChangedVersion {
                version: plan.version.clone(),
                source_now: plan.source.clone(),
                digest_now: found.map(str::to_owned),
                source_before: known.source.clone(),
                digest_before: known.digest.clone(),
                file: self.path.clone(),
            }))),
        }
    }

    /// Remembers a digest.
    pub(super) fn add(mut self, plan: &Plan, digest: &Digest) -> Result<(), RegistryError> {
        let key = key(plan);
        if self.known.get(&key).is_some_and(|known| known.digest == digest.as_str()) {
            return Ok(());
        }
        if self.known.len() >= MAX_DIGESTS {
            self.known.pop_first();
        }
        let known = Known { digest: digest.as_str().to_owned(), source: plan.source.clone() };
        self.known.insert(key, known);
        let text = serde_json::to_vec_pretty(&self.known).map_err(io::Error::other);
        text.and_then(|text| write_file(&self.path, &text)).map_err(RegistryError::file(self.path))
    }
}

/// The key of a digest. A version of a package is one file at npm; the archive of a version may move to another URL, and
/// one URL may have the archives of all versions. Each registry has archives of its own: the digests of one do not apply to
/// those of another.
fn key(plan: &Plan) -> String {
    match plan.kind {
        Kind::Binary => format!("binary {} {} {}", platform(), plan.version, plan.registry),
        kind => format!("{} {}", kind.name(), plan.source),
    }
}
