//! The switches by which configuration files turn a server off. Such a server is never started, and its other members are not
//! read.

use std::collections::HashSet;

use agentwire_jsonrpc::{RawJson, RawObject, nearest};

use super::error::{McpConfigError, McpConfigFault};

/// The members of a server that switch it, as [`plain`] names without `is`, and the value that switches it off.
const SWITCHES: [(&str, bool); 9] = [
    ("disabled", true),
    ("disable", true),
    ("inactive", true),
    ("off", true),
    ("paused", true),
    ("suspended", true),
    ("enabled", false),
    ("enable", false),
    ("active", false),
];

/// The members of a server whose text may be a word of [`WORDS`]. Any other text is not a switch.
const STATES: [&str; 3] = ["mode", "state", "status"];

/// The words for on and off.
const WORDS: [(&str, bool); 15] = [
    ("true", true),
    ("1", true),
    ("yes", true),
    ("on", true),
    ("enabled", true),
    ("active", true),
    ("false", false),
    ("0", false),
    ("no", false),
    ("off", false),
    ("disabled", false),
    ("inactive", false),
    ("paused", false),
    ("stopped", false),
    ("suspended", false),
];

/// The switches to which a mistyped member is compared.
const LONG_SWITCHES: [&str; 4] = ["disabled", "disable", "enabled", "enable"];

/// The members of a file that list the names of servers that are off, as [`plain`] names: those of Claude.
const OFF_LISTS: [&str; 2] = ["disabledmcpservers", "disabledmcpjsonservers"];

/// Returns whether one of the members of a server switches it off.
pub(super) fn is_switched_off(entry: &RawObject) -> Result<bool, McpConfigError> {
    let mut is_off = false;
    for (name, value) in entry.iter().filter(|(_, value)| !value.is_null()) {
        is_off |= is_on(&name, &value).map_err(|fault| fault.at(&name))? == Some(false);
    }
    Ok(is_off)
}

/// Returns whether a member of a server is a switch that can be read.
pub(super) fn is_switch(name: &str, value: &RawJson) -> bool {
    let plain = plain(name);
    let is_state = STATES.contains(&&*plain) && word(value).is_some();
    is_state || sense(&plain).is_some()
}

/// Returns whether a member switches its server on or off, or `None` if it is not a switch. A mistyped switch is an error.
fn is_on(name: &str, value: &RawJson) -> Result<Option<bool>, McpConfigFault> {
    let plain = plain(name);
    if STATES.contains(&&*plain) {
        return Ok(word(value));
    }
    if let Some(off) = sense(&plain) {
        let value = word(value).ok_or(McpConfigFault::Type("true or false"))?;
        return Ok(Some(value != off));
    }
    // `disabledTools` and the like are other members.
    let meant = nearest(&plain, LONG_SWITCHES).filter(|meant| plain.len().abs_diff(meant.len()) <= 1);
    match meant {
        Some(meant) if word(value).is_some() => Err(McpConfigFault::Mistyped(meant)),
        _ => Ok(None),
    }
}

/// The value that switches off, for a switch with this plain name. `None` if there is no such switch.
fn sense(plain: &str) -> Option<bool> {
    let name = plain.strip_prefix("is").unwrap_or(plain);
    SWITCHES.iter().find(|(switch, _)| *switch == name).map(|(_, off)| *off)
}

/// Reads `true` and `false`, also as text, as 1 and 0, and as the other [`WORDS`].
fn word(value: &RawJson) -> Option<bool> {
    let text = value.as_str().to_ascii_lowercase();
    let text = text.trim_matches('"').trim();
    WORDS.iter().find(|(word, _)| *word == text).map(|(_, is_on)| *is_on)
}

/// A name in small letters without `_`, `-` and spaces.
pub(super) fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '-', ' '], "")
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
        for (member, _) in file.iter().filter(|(member, _)| OFF_LISTS.contains(&&*plain(member))) {
            switches.off.extend(names(file, &member, &member)?.unwrap_or_default());
        }
        if let Some(settings) = file.get("mcp").and_then(|settings| RawObject::try_from(settings).ok()) {
            switches.off.extend(names(&settings, "excluded", "mcp.excluded")?.unwrap_or_default());
            switches.only = names(&settings, "allowed", "mcp.allowed")?.map(HashSet::from_iter);
        }
        Ok(switches)
    }

    /// Returns whether one of the lists switches a server off.
    pub(super) fn has_off(&self, name: &str) -> bool {
        self.off.contains(name) || self.only.as_ref().is_some_and(|only| !only.contains(name))
    }

    /// Returns whether a member of a file is read here.
    pub(super) fn is_member(member: &str) -> bool {
        OFF_LISTS.contains(&&*plain(member)) || member == "mcp"
    }
}

/// The list of names at a member; `None` if there is none.
fn names(object: &RawObject, member: &str, place: &str) -> Result<Option<Vec<String>>, McpConfigError> {
    let Some(list) = object.get(member).filter(|list| !list.is_null()) else { return Ok(None) };
    list.decode().map(Some).map_err(|_| McpConfigFault::Type("a list of strings").at(place))
}
