//! The ways in which configuration files switch a server off. A server that one of them switches off is never started, and
//! its other members are not read.

use std::collections::HashSet;

use agentwire_jsonrpc::{RawJson, RawObject};

use super::error::{McpConfigError, McpConfigFault};

/// The members of a server that switch it, and the value that switches it off.
pub(super) const SWITCHES: [(&str, bool); 4] =
    [("disabled", true), ("enabled", false), ("isActive", false), ("active", false)];

/// The members of a file that list the names of servers that are off: those of Claude.
const OFF_LISTS: [&str; 2] = ["disabledMcpServers", "disabledMcpjsonServers"];

/// Returns whether one of the members of a server switches it off.
pub(super) fn is_switched_off(entry: &RawObject) -> Result<bool, McpConfigError> {
    let mut is_off = false;
    for (name, off) in SWITCHES {
        if let Some(value) = entry.get(name).filter(|value| !value.is_null()) {
            is_off |= flag(&value).map_err(|fault| fault.at(name))? == off;
        }
    }
    Ok(is_off)
}

/// Reads `true` and `false`, also as text and as 1 and 0.
fn flag(value: &RawJson) -> Result<bool, McpConfigFault> {
    match value.as_str().to_ascii_lowercase().trim_matches('"') {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(McpConfigFault::Type("true or false")),
    }
}

/// The names of servers that a file switches off outside of their entries.
#[derive(Default)]
pub(super) struct Switches {
    off: HashSet<String>,
    /// `None` if the file switches off only what it names.
    only: Option<HashSet<String>>,
}

impl Switches {
    /// Reads the lists of a file: `disabledMcpServers`, `disabledMcpjsonServers`, and Gemini's `mcp.excluded` and `mcp.allowed`.
    pub(super) fn read(file: &RawObject) -> Result<Self, McpConfigError> {
        let mut switches = Self::default();
        for member in OFF_LISTS {
            switches.off.extend(names(file, member, member)?.unwrap_or_default());
        }
        if let Some(settings) = file.get("mcp").and_then(|settings| RawObject::try_from(settings).ok()) {
            switches.off.extend(names(&settings, "excluded", "mcp.excluded")?.unwrap_or_default());
            switches.only = names(&settings, "allowed", "mcp.allowed")?.map(HashSet::from_iter);
        }
        Ok(switches)
    }

    /// Returns whether a server is off by one of the lists.
    pub(super) fn has_off(&self, name: &str) -> bool {
        self.off.contains(name) || self.only.as_ref().is_some_and(|only| !only.contains(name))
    }

    /// Returns whether a member of a file is read here.
    pub(super) fn is_member(member: &str) -> bool {
        OFF_LISTS.contains(&member) || member == "mcp"
    }
}

/// The list of names at a member; `None` if there is none.
fn names(object: &RawObject, member: &str, place: &str) -> Result<Option<Vec<String>>, McpConfigError> {
    let Some(list) = object.get(member).filter(|list| !list.is_null()) else { return Ok(None) };
    list.decode().map(Some).map_err(|_| McpConfigFault::Type("a list of strings").at(place))
}
