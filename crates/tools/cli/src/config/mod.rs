//! Our own configuration: named agents, named servers and defaults of `chat`. An option wins over an environment variable, and
//! that over the file.

mod arguments;
mod entry;
mod error;
mod file;

use std::env;
use std::path::PathBuf;

use agentwire_jsonrpc::nearest;
use agentwire_mcp_hub::Target;
use agentwire_transport_stdio::Command;
use toml::Table;

pub(crate) use self::arguments::ConfigArguments;
use self::entry::Section;
use self::file::ConfigFile;
use crate::command_line::is_url;
use crate::failure::Usage;
use crate::output::text::quoted;
use crate::programs;
use crate::terminal::Format;

/// The environment variable with the path of the file.
const CONFIG: &str = "AGENTWIRE_CONFIG";

/// The environment variable with the agent of `chat`: a name of the file, or a command line.
const AGENT: &str = "AGENTWIRE_AGENT";

/// The configuration of a command. Empty without a file.
#[derive(Debug, Default)]
pub(crate) struct Config(ConfigFile);

impl Config {
    /// Reads the file that the option or the environment names, or else the one in the user's folder for settings, which may be
    /// missing.
    pub(crate) fn load(arguments: &ConfigArguments) -> Result<Self, Usage> {
        let variable = non_empty(CONFIG).map(PathBuf::from).filter(|_| arguments.config.is_none());
        // The file chooses the programs to run, and the variable applies in all folders.
        if let Some(path) = variable.as_ref().filter(|path| !path.is_absolute()) {
            return Err(Usage(format!("{CONFIG}: `{}` is a relative path", path.display())));
        }
        let named = arguments.config.clone().or(variable);
        match named.or_else(|| default_path().filter(|path| path.exists())) {
            Some(path) => Ok(Self(ConfigFile::read(&path)?)),
            None => Ok(Self::default()),
        }
    }

    /// The command of a named agent. `None` if the file has no agent of that name.
    pub(crate) fn agent(&self, name: &str) -> Result<Option<Command>, Usage> {
        match self.find("agents", &self.0.agents, name)? {
            Some(Target::Stdio(command)) => Ok(Some(command)),
            _ => Ok(None),
        }
    }

    /// A named server. `None` if the file has no server of that name.
    pub(crate) fn server(&self, name: &str) -> Result<Option<Target>, Usage> {
        self.find("servers", &self.0.servers, name)
    }

    /// Refuses a text that is probably a mistyped name of an agent of the file, or of one in `others`.
    pub(crate) fn check_agent<'a>(
        &'a self,
        text: &str,
        others: impl Iterator<Item = &'a str>,
    ) -> Result<(), Usage> {
        check_name("agent", text, self.0.agents.keys().map(String::as_str).chain(others))
    }

    /// Refuses a text that is probably a mistyped name of a server of the file.
    pub(crate) fn check_server(&self, text: &str) -> Result<(), Usage> {
        check_name("server", text, self.0.servers.keys().map(String::as_str))
    }

    /// The agent of `chat` without `--agent`, as a name or a command line: from the environment, else from the file.
    pub(crate) fn default_agent(&self) -> Option<String> {
        let named = non_empty(AGENT).and_then(|agent| agent.into_string().ok());
        named.or_else(|| self.0.agent.clone())
    }

    /// Refuses the command of the [default agent](Self::default_agent) if its program is a path from the current folder.
    pub(crate) fn check_default_agent(&self, command: &Command) -> Result<(), Usage> {
        if !entry::is_relative_path(command.program()) {
            return Ok(());
        }
        Err(match non_empty(AGENT) {
            Some(_) => Usage(format!("{AGENT}: {}", entry::RELATIVE_PROGRAM)),
            None => error::wrong(&self.0.path, "chat.agent", entry::RELATIVE_PROGRAM),
        })
    }

    /// The form of the output of `chat` without `--format`.
    pub(crate) fn default_format(&self) -> Option<Format> {
        self.0.format
    }

    /// The configuration of a file's text, for tests.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Self {
        Self(ConfigFile::parse(std::path::Path::new("c.toml"), text).expect("it is a configuration"))
    }

    fn find(&self, kind: &str, entries: &Table, name: &str) -> Result<Option<Target>, Usage> {
        let Some(entry) = entries.get(name).and_then(|entry| entry.as_table()) else { return Ok(None) };
        let lookup = |variable: &str| env::var(variable).ok();
        entry::read(Section { path: &self.0.path, kind }, name, entry, lookup).map(Some)
    }
}

impl ConfigArguments {
    /// Whether a word is the name of a server in the file. Such a word gets no advice to quote a command line.
    pub(crate) fn names_server(&self, word: &str) -> bool {
        Config::load(self).is_ok_and(|config| config.0.servers.contains_key(word))
    }

    /// Whether a target may be the first word of a command line that is not quoted: it is one word, and neither a URL, a file nor a
    /// name in the file.
    pub(crate) fn is_bare_program(&self, word: &str) -> bool {
        let is_other = word.contains(char::is_whitespace) || is_url(word) || word.contains(".json");
        !is_other && !self.names_server(word)
    }
}

/// Refuses a word that is similar to a name and is not a command.
fn check_name<'a>(kind: &str, text: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Usage> {
    let is_word = !text.contains(|c: char| c.is_whitespace() || c == '/');
    match nearest(text, names).filter(|_| is_word && programs::find(text).is_none()) {
        Some(meant) => {
            let (text, meant) = (quoted(text), quoted(meant));
            Err(Usage(format!("there is no {kind} {text}, and no such command; did you mean {meant}?")))
        }
        None => Ok(()),
    }
}

/// The file in the user's folder for settings. A relative `XDG_CONFIG_HOME` does not count, by its specification.
fn default_path() -> Option<PathBuf> {
    let folder = match non_empty("XDG_CONFIG_HOME").or_else(|| non_empty("APPDATA")).map(PathBuf::from) {
        Some(folder) if folder.is_absolute() => folder,
        _ => env::home_dir().filter(|home| home.is_absolute())?.join(".config"),
    };
    Some(folder.join("agentwire").join("config.toml"))
}

fn non_empty(variable: &str) -> Option<std::ffi::OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn default_agent_with_a_relative_path_is_refused() {
        let file = ConfigFile::parse(Path::new("c.toml"), "[chat]\nagent = './x'").unwrap();
        let check = |program: &str| {
            let config = Config(ConfigFile { path: file.path.clone(), ..ConfigFile::default() });
            config.check_default_agent(&Command::new(program)).map_err(|Usage(why)| why)
        };
        assert_eq!((check("x"), check("/bin/x")), (Ok(()), Ok(())));
        let why = "c.toml: chat.agent: its program is a relative path; write an absolute one, `~/…`, or a name in PATH";
        assert_eq!((check("./x"), check("a/x")), (Err(why.into()), Err(why.into())));
    }

    #[test]
    fn a_mistyped_name_is_refused_with_the_name_that_was_meant() {
        let text = "[agents.claude]\ncommand = 'x'\n[servers.files]\ncommand = 'x'";
        let config = Config(ConfigFile::parse(Path::new("c.toml"), text).unwrap());
        let agent = |text: &str| config.check_agent(text, ["opencode"].into_iter()).map_err(|Usage(why)| why);
        let server = |text: &str| config.check_server(text).map_err(|Usage(why)| why);
        let why = |kind, text, meant| {
            Err(format!("there is no {kind} `{text}`, and no such command; did you mean `{meant}`?"))
        };
        assert_eq!(agent("claud"), why("agent", "claud", "claude"));
        assert_eq!(agent("opncode"), why("agent", "opncode", "opencode"));
        assert_eq!(server("fiels"), why("server", "fiels", "files"));
        // A word unlike every name, a path, a command and a command line are tried as they are.
        assert_eq!((agent("multiply"), server("fiels --x"), server("./fiels")), (Ok(()), Ok(()), Ok(())));
        let shell = Config(ConfigFile::parse(Path::new("c.toml"), "[servers.shh]\ncommand = 'x'").unwrap());
        assert_eq!(shell.check_server("sh").map_err(|Usage(why)| why), Ok(()));
    }

    #[test]
    fn unknown_members_and_wrong_types_are_named() {
        let read = |text: &str| ConfigFile::parse(Path::new("c.toml"), text).map_err(|Usage(why)| why);
        let file =
            read("[chat]\nagent = 'claude'\nformat = 'quiet'\n[agents.claude]\ncommand = 'x'").unwrap();
        assert_eq!((file.agent.as_deref(), file.format), (Some("claude"), Some(Format::Quiet)));
        let rows = [
            ("a = [", "c.toml: it is not TOML: line 1, column 6"),
            ("chat = 1", "c.toml: chat: it must be a table"),
            (
                "[agent.x]",
                "c.toml: agent: there is no such member; `agents`, `servers`, `chat` are; did you mean `agents`?",
            ),
            ("[chat]\nyes = true", "c.toml: chat.yes: there is no such member; `agent`, `format` are"),
            ("[chat]\nformat = 'x'", "c.toml: chat.format: it must be \"text\", \"quiet\" or \"json\""),
            ("[chat]\nagent = 1", "c.toml: chat.agent: it must be a string"),
            ("[chat]\nagent = ' '", "c.toml: chat.agent: it is empty"),
            ("[agents]\nx = 'y'", "c.toml: agents.x: it must be a table"),
            (
                "[agents.x]\nurl = 'y'",
                "c.toml: agents.x.url: there is no such member; `command`, `env`, `cwd`, `enabled`, `disabled` are",
            ),
            (
                "[agents.x]\ncomand = 'y'",
                "c.toml: agents.x.comand: there is no such member; `command`, `env`, `cwd`, `enabled`, `disabled` are; did you mean `command`?",
            ),
            (
                "[servers.x]\nargs = []",
                "c.toml: servers.x.args: there is no such member; `command`, `env`, `cwd`, `type`, `url`, `headers`, `enabled`, `disabled` are",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(read(text).unwrap_err(), expected, "{text}");
        }
    }
}
