//! The types of an entry of the index.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An agent of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// Its id: lower-case letters, digits and hyphens.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its description, in a sentence or two.
    pub description: String,
    /// The URL of its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The URL of its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Its licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// A package of npm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub npx: Option<Package>,
    /// A package of PyPI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uvx: Option<Package>,
    /// Archives by system, such as `linux-x86_64`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub binary: BTreeMap<String, Archive>,
}

/// A package of npm or PyPI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Package {
    /// Its name and version, such as `@scope/name@1.2.3` or `name==1.2.3`.
    pub package: String,
    /// The name of the agent's executable. `None` if the package decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmd: Option<String>,
    /// The arguments of the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables of the agent's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// An archive with an executable, or the executable itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Archive {
    /// Its URL.
    pub archive: String,
    /// The path of the executable in the archive.
    pub cmd: String,
    /// The arguments of the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables of the agent's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The SHA-256 of the archive, as 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}
