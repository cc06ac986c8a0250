//! One server of a configuration file.

use std::ffi::OsString;
use std::path::Path;

use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_transport_stdio::Command;

use super::error::{McpConfigError, McpConfigFault, McpConfigWarning};
use super::unique::check_unique;
use super::variables::Variables;
use crate::config::ServerConfig;
#[cfg(feature = "http")]
use crate::http_target::{HttpKind, HttpTarget};
use crate::target::Target;

const KNOWN: [&str; 8] = ["type", "command", "args", "env", "cwd", "url", "headers", "disabled"];

/// Reads a server; none if it is disabled.
pub(super) fn read_entry(
    name: &str,
    entry: &RawObject,
    variables: &Variables<'_>,
    base_folder: Option<&Path>,
    warnings: &mut Vec<McpConfigWarning>,
) -> Result<Option<ServerConfig>, McpConfigError> {
    check_unique(entry)?;
    let unknown = entry.iter().filter(|(member, _)| !KNOWN.contains(&&**member));
    warnings.extend(unknown.map(|(member, _)| McpConfigWarning::new(Some(name), &member)));
    let entry = Entry { members: entry, variables, base_folder };
    if entry.flag("disabled")? {
        return Ok(None);
    }
    let target = match (entry.text("command")?, entry.text("url")?) {
        (Some(command), None) => Target::Stdio(entry.command(command)?),
        (None, Some(url)) => entry.remote(&url)?,
        (None, None) => return Err(McpConfigFault::NoTarget.into()),
        (Some(_), Some(_)) => return Err(McpConfigFault::TwoTargets.into()),
    };
    Ok(Some(ServerConfig::new(name, target)))
}

struct Entry<'a> {
    members: &'a RawObject,
    variables: &'a Variables<'a>,
    base_folder: Option<&'a Path>,
}

impl Entry<'_> {
    fn command(&self, program: String) -> Result<Command, McpConfigError> {
        self.check_type(|kind| kind == "stdio")?;
        let mut command = Command::new(self.located(program));
        if let Some(arguments) = self.member("args") {
            let arguments: Vec<RawJson> =
                arguments.decode().map_err(|_| McpConfigFault::Type("a list of strings").at("args"))?;
            for argument in &arguments {
                command = command.arg(self.string(argument, "args")?);
            }
        }
        command = match (self.text("cwd")?, self.base_folder) {
            (Some(folder), Some(base)) => command.current_dir(base.join(folder)),
            (Some(folder), None) => command.current_dir(folder),
            (None, Some(base)) => command.current_dir(base),
            (None, None) => command,
        };
        for (name, value) in self.pairs("env")? {
            let member = format!("env.{name}");
            command = match value.as_str() {
                "null" => command.env_remove(name),
                // VS Code takes numbers.
                number if !number.starts_with(['"', '{', '[', 't', 'f']) => {
                    command.env(name, number.to_owned())
                }
                _ => command.env(name, self.string(&value, &member)?),
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
    fn remote(&self, url: &str) -> Result<Target, McpConfigError> {
        let is_sse = |name: &str| cfg!(feature = "sse") && name == "sse";
        self.check_type(|name| {
            matches!(name, "http" | "streamable-http" | "streamableHttp") || is_sse(name)
        })?;
        let kind = match self.text("type")? {
            #[cfg(feature = "sse")]
            Some(name) if is_sse(&name) => HttpKind::Sse,
            // What is at the URL is found out.
            _ => HttpKind::Any,
        };
        // The error of the URL would show what its variables became.
        let mut target = HttpTarget::new(url).map_err(|_| McpConfigFault::Url.at("url"))?.kind(kind);
        for (name, value) in self.pairs("headers")? {
            let member = format!("headers.{name}");
            let value = self.string(&value, &member)?;
            target = target.header(&name, &value).map_err(|_| McpConfigFault::Header.at(&member))?;
        }
        Ok(target.into())
    }

    #[cfg(not(feature = "http"))]
    fn remote(&self, _: &str) -> Result<Target, McpConfigError> {
        Err(McpConfigFault::ServerType("http".into()).at("url"))
    }

    /// Checks the member `type`, which may be left out.
    fn check_type(&self, fits: impl FnOnce(&str) -> bool) -> Result<(), McpConfigError> {
        let Some(kind) = self.text("type")? else { return Ok(()) };
        if fits(&kind) {
            return Ok(());
        }
        // As it is in the file, without what its variables became.
        let kind = self.members.text("type").unwrap_or_default().chars().take(32).collect();
        Err(McpConfigFault::ServerType(kind).at("type"))
    }

    /// A member that is there and not null.
    fn member(&self, name: &str) -> Option<RawJson> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    fn flag(&self, name: &str) -> Result<bool, McpConfigError> {
        let flag = self.member(name).map(|value| value.decode());
        flag.transpose()
            .map(Option::unwrap_or_default)
            .map_err(|_| McpConfigFault::Type("true or false").at(name))
    }

    fn text(&self, name: &str) -> Result<Option<String>, McpConfigError> {
        self.member(name).map(|value| self.string(&value, name)).transpose()
    }

    /// A string, with its variables replaced.
    fn string(&self, value: &RawJson, member: &str) -> Result<String, McpConfigError> {
        let text: String = value.decode().map_err(|_| McpConfigFault::Type("a string").at(member))?;
        self.variables.expand(&text).map_err(|fault| fault.at(member))
    }

    /// The members of a member.
    fn pairs(&self, name: &str) -> Result<Vec<(String, RawJson)>, McpConfigError> {
        let Some(value) = self.member(name) else { return Ok(Vec::new()) };
        let object =
            RawObject::try_from(value).map_err(|_| McpConfigFault::Type("an object of strings").at(name))?;
        check_unique(&object).map_err(|fault| fault.at(name))?;
        Ok(object.iter().map(|(name, value)| (name.into_owned(), value)).collect())
    }
}
