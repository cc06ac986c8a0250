//! Profiles: what the suite needs to know of a subject beyond the protocol, such as a prompt that makes an agent ask for a
//! permission. `docs/conformance/profiles.md` lists the roles.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::requirements::nearest::nearest;
use crate::settings::roles::roles;
use crate::subject::SubjectKind;

/// The uses of a subject's own tools, prompts and commands, by role. An empty profile is valid: checks that need a role
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
#[non_exhaustive]
pub enum ProfileError {
    /// It is not TOML, or has a table that no kind of subject has.
    #[error("the profile is malformed: {0}")]
    Malformed(toml::de::Error),
    /// A role that no check needs.
    #[error("the profile's `{role}` is not a role of an {kind}; the nearest one is `{nearest}`")]
    UnknownRole {
        /// The kind of subject.
        kind: SubjectKind,
        /// The role.
        role: String,
        /// The known role whose name is nearest.
        nearest: &'static str,
    },
}

/// The profiles that are built in.
const BUILT_IN: &[(&str, &str)] = &[
    ("agentwire", include_str!("../../profiles/agentwire.toml")),
    ("everything", include_str!("../../profiles/everything.toml")),
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
    /// Fails if the text is not TOML, has a table that no kind of subject has, or names a role that no check needs.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let profile: Self = toml::from_str(text).map_err(ProfileError::Malformed)?;
        for kind in SubjectKind::ALL.iter().copied() {
            let known = roles(kind);
            let mut named = profile.table(kind).into_iter().flat_map(BTreeMap::keys);
            if let Some(role) = named.find(|role| !known.contains(&role.as_str())) {
                let nearest = nearest(role, known.iter().copied()).unwrap_or_default();
                return Err(ProfileError::UnknownRole { kind, role: role.clone(), nearest });
            }
        }
        Ok(profile)
    }

    /// The roles for subjects of a kind. Proxies and conductors need none.
    pub fn get(&self, kind: SubjectKind, role: &str) -> Option<&Value> {
        self.table(kind)?.get(role)
    }

    fn table(&self, kind: SubjectKind) -> Option<&BTreeMap<String, Value>> {
        match kind {
            SubjectKind::AcpAgent => Some(&self.acp_agent),
            SubjectKind::AcpClient => Some(&self.acp_client),
            SubjectKind::AcpProxy | SubjectKind::AcpConductor => None,
            SubjectKind::McpServer => Some(&self.mcp_server),
            SubjectKind::McpClient => Some(&self.mcp_client),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_profiles_can_be_read() {
        for name in Profile::NAMES {
            Profile::built_in(name).unwrap().unwrap();
        }
    }

    #[test]
    fn a_mistyped_role_is_named_with_the_nearest_one() {
        let error = Profile::parse("[acp-agent]\npermision = \"x\"\n").unwrap_err();
        let expected =
            "the profile's `permision` is not a role of an acp-agent; the nearest one is `permission`";
        assert_eq!(error.to_string(), expected);
        let error = Profile::parse("[mcp-sever]\necho = \"x\"\n").unwrap_err().to_string();
        assert!(error.contains("unknown field `mcp-sever`") && error.contains("`mcp-server`"), "{error}");
    }
}
