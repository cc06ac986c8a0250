//! Reads one server of a configuration file.
//!
//! Programs write the same entry in different forms. A form with a clear meaning is read; an error names any other.

use std::ffi::OsString;
use std::path::Path;

use agentwire_jsonrpc::{RawJson, RawObject, nearest};
use agentwire_transport_stdio::Command;

use super::error::{McpConfigError, McpConfigFault, McpConfigWarning};
use super::switches::{is_switch, is_switched_off, plain};
use super::unique::{UniqueNames, check_unique};
use super::variables::Variables;
use crate::config::ServerConfig;
use crate::target::Target;
#[cfg(feature = "http")]
use crate::target::http::{HttpKind, HttpTarget};

const KNOWN: [&str; 5] = ["command", "args", "env", "cwd", "headers"];

/// Members with the kind of a server.
const KINDS: [&str; 3] = ["type", "transport", "transportType"];

/// Members with the URL of a server. The last two are those of Gemini and Windsurf.
const URLS: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// Plain names of members that other programs could use for a URL or a command, each with the member that is read here.
const OTHER_TARGETS: [(&str, &str); 12] = [
    ("uri", "url"),
    ("endpoint", "url"),
    ("address", "url"),
    ("href", "url"),
    ("baseurl", "url"),
    ("httpurl", "httpUrl"),
    ("serverurl", "serverUrl"),
    ("cmd", "command"),
    ("exec", "command"),
    ("executable", "command"),
    ("program", "command"),
    ("bin", "command"),
];

/// Reads a server; `None` if it is switched off.
pub(super) fn read_entry(
    name: &str,
    entry: &RawObject,
    variables: &Variables<'_>,
    base_folder: Option<&Path>,
    warnings: &mut Vec<McpConfigWarning>,
) -> Result<Option<ServerConfig>, McpConfigError> {
    check_unique(entry)?;
    if is_switched_off(entry)? {
        return Ok(None);
    }
    let known = [&KNOWN[..], &KINDS, &URLS].concat();
    let unknown =
        entry.iter().filter(|(member, value)| !known.contains(&&**member) && !is_switch(member, value));
    warnings.extend(unknown.map(|(member, _)| McpConfigWarning::new(Some(name), &member)));
    let entry = Entry { members: entry, variables, base_folder };
    let targets = ["command"].into_iter().chain(URLS).filter_map(|name| Some((name, entry.member(name)?)));
    let target = match targets.collect::<Vec<_>>().as_slice() {
        [("command", command)] => Target::Stdio(entry.command(command)?),
        [(member, url)] => entry.remote(member, &entry.string(url, member)?)?,
        [] => return Err(entry.without_target()),
        [(one, _), (other, _), ..] => return Err(McpConfigFault::TwoTargets(one, other).into()),
    };
    Ok(Some(ServerConfig::new(name, target)))
}

struct Entry<'a> {
    members: &'a RawObject,
    variables: &'a Variables<'a>,
    base_folder: Option<&'a Path>,
}

impl Entry<'_> {
    /// The error for a server without a command and a URL, which names the member that was probably meant as one.
    fn without_target(&self) -> McpConfigError {
        let meant = |name: &str| {
            let other = OTHER_TARGETS.iter().find(|(other, _)| *other == plain(name));
            other.map(|(_, meant)| *meant).or_else(|| nearest(name, ["command", "url"]))
        };
        let mut members = self.members.iter().filter(|(name, _)| !KNOWN.contains(&&**name));
        let fault = members.find_map(|(name, _)| Some((meant(&name)?, name)));
        match fault {
            Some((meant, name)) => McpConfigFault::OtherTarget(meant).at(&name),
            None => McpConfigFault::NoTarget.into(),
        }
    }

    /// A command: a program, or a list of the program and its first arguments.
    fn command(&self, command: &RawJson) -> Result<Command, McpConfigError> {
        self.check_type(|kind| matches!(kind, "stdio" | "local"))?;
        let mut words = match command.as_str().starts_with('[') {
            true => self.words(command, "command")?.into_iter(),
            false => vec![self.string(command, "command")?].into_iter(),
        };
        let program = words.next().ok_or_else(|| McpConfigFault::NoTarget.at("command"))?;
        let mut command = Command::new(self.located(program)).args(words);
        if let Some(arguments) = self.member("args") {
            command = command.args(self.words(&arguments, "args")?);
        }
        command = match (self.text("cwd")?, self.base_folder) {
            (Some(folder), Some(base)) => command.current_dir(base.join(folder)),
            (Some(folder), None) => command.current_dir(folder),
            (None, Some(base)) => command.current_dir(base),
            (None, None) => command,
        };
        for (name, value) in self.pairs("env")? {
            let member = format!("env.{name}");
            command = match value.is_null() {
                true => command.env_remove(name),
                false => command.env(name, self.word(&value, &member)?),
            };
        }
        Ok(command)
    }

    /// The program, from the base folder where it is a relative path.
    fn located(&self, program: String) -> OsString {
        match self.base_folder {
            // An absolute path stays as it is.
            Some(base) if program.contains(std::path::is_separator) => base.join(program).into(),
            _ => program.into(),
        }
    }

    #[cfg(feature = "http")]
    fn remote(&self, member: &str, url: &str) -> Result<Target, McpConfigError> {
        let is_sse = |kind: &str| cfg!(feature = "sse") && kind == "sse";
        self.check_type(|kind| {
            matches!(kind, "http" | "streamable" | "streamablehttp" | "remote") || is_sse(kind)
        })?;
        let kind = match self.kind()? {
            #[cfg(feature = "sse")]
            Some((_, kind)) if is_sse(&kind) => HttpKind::Sse,
            // The client finds out the transport at the URL.
            _ => HttpKind::Any,
        };
        // The error of the URL would show the values of its variables.
        let mut target = HttpTarget::new(url).map_err(|_| McpConfigFault::Url.at(member))?.kind(kind);
        for (name, value) in self.pairs("headers")? {
            let member = format!("headers.{name}");
            let value = self.word(&value, &member)?;
            target = target.header(&name, &value).map_err(|_| McpConfigFault::Header.at(&member))?;
        }
        Ok(target.into())
    }

    #[cfg(not(feature = "http"))]
    fn remote(&self, member: &str, _: &str) -> Result<Target, McpConfigError> {
        Err(McpConfigFault::ServerType("http".into()).at(member))
    }

    /// The member with the kind of the server, and the kind in small letters without separators.
    fn kind(&self) -> Result<Option<(&'static str, String)>, McpConfigError> {
        let Some(member) = KINDS.into_iter().find(|name| self.member(name).is_some()) else {
            return Ok(None);
        };
        Ok(self.text(member)?.map(|kind| (member, plain(&kind))))
    }

    /// Checks the kind of the server, which may be left out.
    fn check_type(&self, fits: impl FnOnce(&str) -> bool) -> Result<(), McpConfigError> {
        match self.kind()? {
            Some((member, kind)) if !fits(&kind) => {
                // As it is in the file, without the values of its variables.
                let kind = self.members.text(member).unwrap_or_default().chars().take(32).collect();
                Err(McpConfigFault::ServerType(kind).at(member))
            }
            _ => Ok(()),
        }
    }

    /// Returns a member that is present and not null.
    fn member(&self, name: &str) -> Option<RawJson> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Result<Option<String>, McpConfigError> {
        self.member(name).map(|value| self.string(&value, name)).transpose()
    }

    /// A string, with its variables replaced.
    fn string(&self, value: &RawJson, member: &str) -> Result<String, McpConfigError> {
        let text: String = value.decode().map_err(|_| McpConfigFault::Type("a string").at(member))?;
        self.variables.expand(&text).map_err(|fault| fault.at(member))
    }

    /// A string, or the text of a number, `true` or `false`.
    fn word(&self, value: &RawJson, member: &str) -> Result<String, McpConfigError> {
        match value.as_str() {
            "null" => Err(McpConfigFault::Type("a string").at(member)),
            text if text.starts_with(['"', '{', '[']) => self.string(value, member),
            text => Ok(text.to_owned()),
        }
    }

    fn words(&self, list: &RawJson, member: &str) -> Result<Vec<String>, McpConfigError> {
        let words: Vec<RawJson> =
            list.decode().map_err(|_| McpConfigFault::Type("a list of strings").at(member))?;
        words.iter().map(|word| self.word(word, member)).collect()
    }

    /// The members of a member, which may be a list of objects with `name` and `value` instead.
    fn pairs(&self, name: &str) -> Result<Vec<(String, RawJson)>, McpConfigError> {
        let Some(value) = self.member(name) else { return Ok(Vec::new()) };
        let wrong = || McpConfigFault::Type("an object of strings").at(name);
        let pairs: Vec<(String, RawJson)> = if value.as_str().starts_with('[') {
            let pair = |pair: RawJson| -> Option<(String, RawJson)> {
                let pair = RawObject::try_from(pair).ok()?;
                check_unique(&pair).ok()?;
                Some((pair.text("name")?.into_owned(), pair.get("value")?))
            };
            let listed: Vec<RawJson> = value.decode().map_err(|_| wrong())?;
            listed.into_iter().map(pair).collect::<Option<_>>().ok_or_else(wrong)?
        } else {
            let object = RawObject::try_from(value).map_err(|_| wrong())?;
            object.iter().map(|(name, value)| (name.into_owned(), value)).collect()
        };
        let mut names = UniqueNames::default();
        pairs.iter().try_for_each(|(pair, _)| names.add(pair)).map_err(|fault| fault.at(name))?;
        Ok(pairs)
    }
}
