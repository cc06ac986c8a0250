//! Reads our own configuration file, and checks the names of its members.

use std::path::{Path, PathBuf};

use agentwire_jsonrpc::did_you_mean;
use anyhow::Result;
use clap::ValueEnum as _;
use toml::{Table, Value};

use super::error::wrong;
use crate::arguments::files::read_regular_text;
use crate::failure::Usage;
use crate::terminal::Format;

/// The longest configuration file: 1 MiB.
const FILE_LIMIT: u64 = 1 << 20;

/// The configuration file.
#[derive(Debug, Default)]
pub(super) struct ConfigFile {
    pub(super) path: PathBuf,
    pub(super) agents: Table,
    pub(super) servers: Table,
    /// `chat.agent`.
    pub(super) agent: Option<String>,
    /// `chat.format`.
    pub(super) format: Option<Format>,
}

impl ConfigFile {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, Usage> {
        let text = read_regular_text(path, FILE_LIMIT).map_err(|why| wrong(path, "", &why.to_string()))?;
        Self::parse(path, &text)
    }

    /// Reads the text of a file.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, Usage> {
        // The text of the error may show a value.
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let (line, column) = position(before);
            wrong(path, "", &format!("it is not TOML: line {line}, column {column}"))
        })?;
        let mut file = Self { path: path.to_owned(), ..Self::default() };
        for (name, value) in table {
            match (name.as_str(), value) {
                ("agents", Value::Table(agents)) => file.agents = agents,
                ("servers", Value::Table(servers)) => file.servers = servers,
                ("chat", Value::Table(chat)) => file.read_chat(chat)?,
                ("agents" | "servers" | "chat", _) => return Err(wrong(path, &name, "it must be a table")),
                _ => return Err(unknown(path, &name, &name, &["agents", "servers", "chat"])),
            }
        }
        file.check_names("agents", &file.agents, &["command", "env", "cwd", "enabled", "disabled"])?;
        let of_server = ["command", "env", "cwd", "type", "url", "headers", "enabled", "disabled"];
        file.check_names("servers", &file.servers, &of_server)?;
        if file.agent.as_ref().is_some_and(|agent| agent.trim().is_empty()) {
            return Err(wrong(path, "chat.agent", "it is empty"));
        }
        Ok(file)
    }

    fn read_chat(&mut self, chat: Table) -> Result<(), Usage> {
        for (name, value) in chat {
            let place = format!("chat.{name}");
            let text = || match &value {
                Value::String(text) => Ok(text.clone()),
                _ => Err(wrong(&self.path, &place, "it must be a string")),
            };
            match name.as_str() {
                "agent" => self.agent = Some(text()?),
                "format" => {
                    let format = Format::from_str(&text()?, false).map_err(|_| {
                        wrong(&self.path, &place, "it must be \"text\", \"quiet\" or \"json\"")
                    })?;
                    self.format = Some(format);
                }
                _ => return Err(unknown(&self.path, &place, &name, &["agent", "format"])),
            }
        }
        Ok(())
    }

    /// Checks the members of all named agents or servers.
    fn check_names(&self, kind: &str, entries: &Table, known: &[&str]) -> Result<(), Usage> {
        for (name, entry) in entries {
            let place = format!("{kind}.{name}");
            let Value::Table(entry) = entry else {
                return Err(wrong(&self.path, &place, "it must be a table"));
            };
            if let Some(member) = entry.keys().find(|member| !known.contains(&member.as_str())) {
                return Err(unknown(&self.path, &format!("{place}.{member}"), member, known));
            }
        }
        Ok(())
    }
}

/// The error for a member that is not one of `known`.
fn unknown(path: &Path, place: &str, member: &str, known: &[&str]) -> Usage {
    let meant = did_you_mean(member, known.iter().copied());
    let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    wrong(path, place, &format!("there is no such member; {known} are{meant}"))
}

/// The line and the column after a text, both from 1.
fn position(before: &str) -> (usize, usize) {
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
