//! Reads a named agent or server of our own configuration file. Variables in its values have the same meaning as in an
//! `.mcp.json`.

use std::env;
use std::ffi::OsStr;
use std::path::Path;

use agentwire_mcp_hub::{McpConfigReader, Target};
use serde_json::{Map, json};
use toml::{Table, Value};

use super::error::wrong;
use crate::command_line::other_scheme;
use crate::failure::Usage;

/// The reason to refuse a program.
pub(super) const RELATIVE_PROGRAM: &str =
    "its program is a relative path; write an absolute one, `~/…`, or a name in PATH";

/// The variable that replaces a quoted or escaped `$`. No environment has a variable of this name.
const DOLLAR: &str = "dollar()";

/// The table of an entry: its file, and `agents` or `servers`.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    pub(super) path: &'a Path,
    pub(super) kind: &'a str,
}

impl Section<'_> {
    fn wrong(self, name: &str, member: &str, why: &str) -> Usage {
        let place = [self.kind, name, member].into_iter().filter(|part| !part.is_empty());
        wrong(self.path, &place.collect::<Vec<_>>().join("."), why)
    }
}

/// Reads an entry. `lookup` returns the values of variables.
pub(super) fn read(
    section: Section<'_>,
    name: &str,
    entry: &Table,
    lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> Result<Target, Usage> {
    let mut members = Map::new();
    for (member, value) in entry {
        match (member.as_str(), value) {
            ("command", command) => {
                let mut words = words(command).map_err(|why| section.wrong(name, member, why))?;
                for word in &mut words {
                    expand_home(word).map_err(|why| section.wrong(name, member, why))?;
                }
                let mut words = words.into_iter();
                members.insert("command".into(), words.next().into());
                members.insert("args".into(), words.collect());
            }
            ("cwd", Value::String(folder)) => {
                let mut folder = folder.clone();
                expand_home(&mut folder).map_err(|why| section.wrong(name, member, why))?;
                members.insert(member.clone(), folder.into());
            }
            ("headers", _) if entry.contains_key("command") => {
                return Err(section.wrong(name, member, "only a server at a `url` has headers"));
            }
            ("url", Value::String(url)) => {
                if let Some(why) = other_scheme(url) {
                    return Err(section.wrong(name, member, &why));
                }
                members.insert(member.clone(), url.clone().into());
            }
            (_, value) => {
                let value = json_of(value)
                    .ok_or_else(|| section.wrong(name, member, "it must be a string, a list or a table"))?;
                members.insert(member.clone(), value);
            }
        }
    }
    let file = json!({ "mcpServers": { name: members } }).to_string();
    let lookup = move |name: &str| if name == DOLLAR { Some("$".to_owned()) } else { lookup(name) };
    let read = McpConfigReader::new().variables(lookup).parse(&file).map_err(|error| {
        let member = error.member().unwrap_or_default();
        section.wrong(name, if member == "args" { "command" } else { member }, &error.fault().to_string())
    })?;
    let target = read.into_servers().into_iter().next().map(|server| server.target);
    let target = target.ok_or_else(|| section.wrong(name, "", "it is disabled in this file"))?;
    if let Target::Stdio(command) = &target {
        if is_relative_path(command.program()) {
            return Err(section.wrong(name, "command", RELATIVE_PROGRAM));
        }
        if command.directory().is_some_and(|folder| !folder.is_absolute()) {
            return Err(section.wrong(name, "cwd", "it is a relative path; write an absolute one or `~/…`"));
        }
    }
    Ok(target)
}

/// The words of a command: a command line, or a list of words.
fn words(command: &Value) -> Result<Vec<String>, &'static str> {
    let words = match command {
        Value::String(line) => shell_words::split(&protected(line)).map_err(|_| "a quote is not closed")?,
        Value::Array(words) => words
            .iter()
            .map(|word| word.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or("its words must be strings")?,
        _ => return Err("it must be a command line or a list of words"),
    };
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err("it is empty"),
    }
}

/// The command line with each `$` in single quotes or after a backslash replaced by a reference to [`DOLLAR`].
fn protected(line: &str) -> String {
    let (mut protected, mut quote) = (String::with_capacity(line.len()), None);
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, quote) {
            ('\\', None | Some('"')) if rest.next_if_eq(&'$').is_some() => {
                protected.push_str(&format!("${{{DOLLAR}}}"));
            }
            ('\\', None | Some('"')) => {
                protected.push(c);
                protected.extend(rest.next());
            }
            ('$', Some('\'')) => protected.push_str(&format!("${{{DOLLAR}}}")),
            _ => {
                quote = match quote {
                    None => Some(c).filter(|c| matches!(c, '\'' | '"')),
                    Some(open) => Some(open).filter(|open| *open != c),
                };
                protected.push(c);
            }
        }
    }
    protected
}

/// Replaces `~` before a separator by the home folder.
fn expand_home(word: &mut String) -> Result<(), &'static str> {
    let Some(rest) = word.strip_prefix("~/") else { return Ok(()) };
    let home = env::home_dir().filter(|home| home.is_absolute()).ok_or("there is no home folder for `~`")?;
    let path = home.join(rest);
    *word = path.to_str().ok_or("the path of the home folder is not UTF-8")?.to_owned();
    Ok(())
}

/// Whether a program is named by a path from the current folder.
pub(super) fn is_relative_path(program: &OsStr) -> bool {
    let path = Path::new(program);
    !path.is_absolute() && program.to_str().is_none_or(|text| text.contains(std::path::is_separator))
}

/// A value as JSON. `None` for dates, and for numbers that JSON lacks.
fn json_of(value: &Value) -> Option<serde_json::Value> {
    Some(match value {
        Value::String(text) => text.clone().into(),
        Value::Integer(number) => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        Value::Float(number) => serde_json::Number::from_f64(*number)?.into(),
        Value::Array(values) => values.iter().map(json_of).collect::<Option<Vec<_>>>()?.into(),
        Value::Table(table) => {
            let members = table.iter().map(|(name, value)| Some((name.clone(), json_of(value)?)));
            serde_json::Value::Object(members.collect::<Option<_>>()?)
        }
        Value::Datetime(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Result<Target, String> {
        let section = Section { path: Path::new("c.toml"), kind: "agents" };
        let lookup = |name: &str| (name == "TOKEN").then(|| "hunter2".to_owned());
        let read = read(section, "a", &text.parse().unwrap(), lookup).map_err(|Usage(why)| why);
        assert!(read.as_ref().err().is_none_or(|why| !why.contains("hunter2")), "{read:?}");
        read
    }

    #[test]
    fn a_command_is_a_line_or_a_list_with_variables_and_a_home() {
        let home = env::home_dir().unwrap();
        for text in
            ["command = \"npx -y 'a b' ${TOKEN} ~/x\"", "command = ['npx', '-y', 'a b', '${TOKEN}', '~/x']"]
        {
            let Ok(Target::Stdio(command)) = entry(text) else { panic!("{text}") };
            let expected = ["-y", "a b", "hunter2", home.join("x").to_str().unwrap()].map(Into::into);
            assert_eq!(
                (command.program(), command.arguments()),
                (OsStr::new("npx"), &expected[..]),
                "{text}"
            );
        }
        let text = "command = '~/bin/agent'\ncwd = '/tmp'\nenv = { KEY = '${TOKEN}' }";
        let Ok(Target::Stdio(command)) = entry(text) else { panic!("{text}") };
        assert_eq!(command.program(), home.join("bin/agent"));
        assert_eq!(command.directory(), Some(Path::new("/tmp")));
        let environment: Vec<_> = command.environment().collect();
        assert_eq!(environment, [(OsStr::new("KEY"), Some(OsStr::new("hunter2")))]);
    }

    #[test]
    fn a_variable_is_replaced_where_a_shell_replaces_it() {
        let line = r#"command = '''sh -c 'a "${TOKEN} $x' ${TOKEN} "b '${TOKEN}'" \${TOKEN} "\${TOKEN}" ${NO:-d} c\\ $x'''"#;
        let Ok(Target::Stdio(command)) = entry(line) else { panic!("{line}") };
        let expected =
            ["-c", "a \"${TOKEN} $x", "hunter2", "b 'hunter2'", "${TOKEN}", "${TOKEN}", "d", "c\\", "$x"];
        assert_eq!(command.arguments(), expected.map(std::ffi::OsString::from));
    }

    #[test]
    fn fault_is_named_without_its_value() {
        let relative = "c.toml: agents.a.command: its program is a relative path; write an absolute one, `~/…`, or a name in PATH";
        let rows = [
            ("command = './hunter2'", relative),
            ("command = '${TOKEN}/x'", relative),
            ("command = \"'hunter2\"", "c.toml: agents.a.command: a quote is not closed"),
            ("command = ''", "c.toml: agents.a.command: it is empty"),
            ("command = 3", "c.toml: agents.a.command: it must be a command line or a list of words"),
            ("command = [3]", "c.toml: agents.a.command: its words must be strings"),
            (
                "command = 'x'\ncwd = 'y'",
                "c.toml: agents.a.cwd: it is a relative path; write an absolute one or `~/…`",
            ),
            ("command = 'x'\nenv = 'hunter2'", "c.toml: agents.a.env: it must be an object of strings"),
            (
                "command = 'x'\nenv.A = 2020-01-01",
                "c.toml: agents.a.env: it must be a string, a list or a table",
            ),
            (
                "command = 'x ${NO}'",
                "c.toml: agents.a.command: the variable \"NO\" is not set, and has no default, as in `${NAME:-default}`",
            ),
            (
                "command = 'x'\nheaders = { A = 'hunter2' }",
                "c.toml: agents.a.headers: only a server at a `url` has headers",
            ),
            (
                "url = 'ws://a.example/mcp?key=hunter2'",
                "c.toml: agents.a.url: `ws:` is not the URL of an MCP server; write http://a.example/mcp",
            ),
            ("env = {}", "c.toml: agents.a: it has neither `command` nor `url`"),
            ("command = '${NO}'\nenabled = false", "c.toml: agents.a: it is disabled in this file"),
            ("command = 'x'\ndisabled = true", "c.toml: agents.a: it is disabled in this file"),
            ("command = 'x'\nenabled = 'hunter2'", "c.toml: agents.a.enabled: it must be true or false"),
        ];
        for (text, expected) in rows {
            assert_eq!(entry(text).unwrap_err(), expected, "{text}");
        }
    }
}
