//! Expands `${…}` in the strings of a configuration file.

use std::cell::Cell;
use std::path::{MAIN_SEPARATOR_STR, Path};

use super::error::McpConfigFault;

/// The longest name that an error shows, in characters.
const SHOWN: usize = 64;

/// The values of variables.
pub(super) struct Variables<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    workspace_folder: Option<&'a Path>,
    limit: usize,
    /// How many bytes the values of further variables may have in total.
    left: Cell<usize>,
}

impl<'a> Variables<'a> {
    pub(super) fn new(
        lookup: &'a dyn Fn(&str) -> Option<String>,
        workspace_folder: Option<&'a Path>,
        limit: usize,
    ) -> Self {
        Self { lookup, workspace_folder, limit, left: Cell::new(limit) }
    }

    /// Replaces the variables of a text.
    pub(super) fn expand(&self, text: &str) -> Result<String, McpConfigFault> {
        let (mut expanded, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, after)) = rest.split_once("${") {
            let (variable, after) = after.split_once('}').ok_or(McpConfigFault::Unclosed)?;
            let value = self.value(variable)?;
            let left = self.left.get().checked_sub(value.len());
            self.left.set(left.ok_or(McpConfigFault::TooLong { limit: self.limit })?);
            expanded.push_str(before);
            expanded.push_str(&value);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn value(&self, variable: &str) -> Result<String, McpConfigFault> {
        match variable {
            "workspaceFolder" => return self.folder().map(|folder| folder.display().to_string()),
            "workspaceFolderBasename" => {
                let folder = self.folder()?;
                return Ok(folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
            }
            "userHome" => {
                return (self.lookup)("HOME")
                    .or_else(|| (self.lookup)("USERPROFILE"))
                    .ok_or_else(|| McpConfigFault::Unset("HOME".into()));
            }
            "pathSeparator" | "/" => return Ok(MAIN_SEPARATOR_STR.to_owned()),
            _ => {}
        }
        if let Some(input) = variable.strip_prefix("input:") {
            return Err(McpConfigFault::Input(shown(input)));
        }
        let (name, default) = match variable.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (variable, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        if !is_name(name) {
            // A default may be a secret, so it is not shown.
            return Err(McpConfigFault::UnknownVariable(shown(name)));
        }
        match ((self.lookup)(name), default) {
            (Some(value), None) => Ok(value),
            (Some(value), Some(_)) if !value.is_empty() => Ok(value),
            (_, Some(default)) => Ok(default.to_owned()),
            (None, None) => Err(McpConfigFault::Unset(shown(name))),
        }
    }

    fn folder(&self) -> Result<&Path, McpConfigFault> {
        self.workspace_folder.ok_or(McpConfigFault::NoWorkspaceFolder)
    }
}

/// Whether this is the name of a variable of the environment, also of one of Windows, such as `ProgramFiles(x86)`.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_()".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(fits)
}

pub(super) fn shown(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}
