//! Profiles: what the suite needs to know of a subject beyond the protocol, such as a prompt that makes an agent ask for a
//! permission. `docs/conformance/profiles.md` lists the roles.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::subject::SubjectKind;

/// What a subject's own tools, prompts and commands are good for, by role. An empty profile is valid: checks that need a role
/// do not apply then.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Profile {
    /// Its name, for reports.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    acp_agent: BTreeMap<String, Value>,
    #[serde(default)]
    acp_client: BTreeMap<String, Value>,
    #[serde(default)]
    mcp_server: BTreeMap<String, Value>,
    #[serde(default)]
    mcp_client: BTreeMap<String, Value>,
}

/// A profile that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the profile is malformed: {0}")]
pub struct ProfileError(#[from] toml::de::Error);

/// The profiles that are built in.
const BUILT_IN: &[(&str, &str)] = &[
    ("agentwire", include_str!("../profiles/agentwire.toml")),
    ("everything", include_str!("../profiles/everything.toml")),
];

impl Profile {
    /// The names of the profiles that are built in.
    pub const NAMES: &[&str] = &["agentwire", "everything"];

    /// A profile that is built in, by its name.
    pub fn built_in(name: &str) -> Option<Result<Self, ProfileError>> {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| Self::parse(text))
    }

    /// Reads a profile from TOML.
    ///
    /// # Errors
    ///
    /// Fails if the text is no TOML or has a table that no kind of subject has.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        Ok(toml::from_str(text)?)
    }

    /// What plays a role for subjects of a kind. Proxies and conductors need none.
    pub fn get(&self, kind: SubjectKind, role: &str) -> Option<&Value> {
        match kind {
            SubjectKind::AcpAgent => &self.acp_agent,
            SubjectKind::AcpClient => &self.acp_client,
            SubjectKind::AcpProxy | SubjectKind::AcpConductor => return None,
            SubjectKind::McpServer => &self.mcp_server,
            SubjectKind::McpClient => &self.mcp_client,
        }
        .get(role)
    }
}
