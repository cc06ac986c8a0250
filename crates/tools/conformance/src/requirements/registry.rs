//! All requirements, from the files in `requirements/`.

use serde::Deserialize;

use crate::requirements::nearest::nearest;
use crate::requirements::protocol::Protocol;
use crate::requirements::requirement::Requirement;

/// Every requirement of both protocols, in the order of the files.
#[derive(Debug, Clone)]
pub struct Registry {
    requirements: Vec<Requirement>,
}

/// A file of requirements that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {why}")]
pub struct RegistryError {
    pub(crate) file: &'static str,
    pub(crate) why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    requirement: Vec<Requirement>,
}

/// The files of a folder, one for each area: the protocol, the name and the text.
macro_rules! files {
    ($root:literal) => {
        $crate::requirements::registry::files! { $root
            Acp "acp" [
                "transport", "jsonrpc", "initialization", "authentication", "session", "session-list", "prompt",
                "tool-calls", "files", "terminals", "options", "content", "elicitation", "updates", "remote", "proxy", "v2",
            ]
            Mcp "mcp" [
                "jsonrpc", "lifecycle", "stdio", "http-sse", "streamable-http", "modern-http", "cancellation", "progress",
                "ping", "pagination", "logging", "completion", "discovery", "subscriptions", "input-required", "caching",
                "tasks",
            ]
        }
    };
    ($root:literal $($protocol:ident $folder:literal [$($area:literal),* $(,)?])*) => {
        &[$($(($crate::requirements::protocol::Protocol::$protocol, concat!($root, "/", $folder, "/", $area, ".toml"),
            include_str!(concat!("../../", $root, "/", $folder, "/", $area, ".toml")))),*),*]
    };
}
pub(crate) use files;

const FILES: &[(Protocol, &str, &str)] = files!("requirements");

impl Registry {
    /// Reads the requirements that this crate was built with.
    ///
    /// # Errors
    ///
    /// Fails if one of the files is malformed or an id occurs twice, which the crate's tests rule out.
    pub fn load() -> Result<Self, RegistryError> {
        let mut requirements: Vec<Requirement> = Vec::new();
        for (protocol, file, text) in FILES {
            let read: File =
                toml::from_str(text).map_err(|error| RegistryError { file, why: error.to_string() })?;
            for requirement in read.requirement {
                let requirement = requirement.of(*protocol, area_of(file));
                if requirements.iter().any(|known| known.name() == requirement.name()) {
                    return Err(RegistryError { file, why: format!("{} occurs twice", requirement.name()) });
                }
                requirements.push(requirement);
            }
        }
        Ok(Self { requirements })
    }

    /// All of them.
    pub fn all(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Those of a protocol.
    pub(crate) fn of(&self, protocol: Protocol) -> impl Iterator<Item = &Requirement> {
        self.requirements.iter().filter(move |known| known.protocol() == protocol)
    }

    /// The name that is nearest to one that no requirement has. Nothing for one that a requirement has.
    pub(crate) fn nearest_to(&self, name: &str) -> Option<String> {
        let names: Vec<String> = self.requirements.iter().map(Requirement::name).collect();
        let is_known = names.iter().any(|known| known == name);
        let nearest = || nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        if is_known { None } else { nearest() }
    }

    /// The one with an id in a protocol.
    pub fn get(&self, protocol: Protocol, id: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|known| known.protocol() == protocol && known.id == id)
    }
}

/// The name of a file without its folder and its ending.
fn area_of(file: &'static str) -> &'static str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.trim_end_matches(".toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read() {
        let registry = Registry::load().unwrap();
        let count = |protocol| registry.all().iter().filter(|known| known.protocol() == protocol).count();
        assert!(count(Protocol::Acp) >= 234, "{}", count(Protocol::Acp));
        assert!(count(Protocol::Mcp) >= 307, "{}", count(Protocol::Mcp));
    }

    #[test]
    fn every_requirement_holds_in_a_revision_and_binds_a_party() {
        for requirement in Registry::load().unwrap().all() {
            let name = requirement.name();
            assert!(requirement.newest().is_some(), "{name} holds in no revision");
            assert!(!requirement.binds.is_empty(), "{name} binds nobody");
            assert!(requirement.text.ends_with('.') && !requirement.page.is_empty(), "{name}");
            assert!(!requirement.implied || requirement.level == crate::Level::Should, "{name} is implied");
        }
    }
}
