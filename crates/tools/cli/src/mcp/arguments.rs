//! The command lines of the commands that connect to an MCP server.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use agentwire_mcp_client::Era;
use agentwire_mcp_hub::Target;
use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::arguments::headers::HeaderArguments;
use crate::arguments::values::{Answer, directory, seconds};
use crate::config::ConfigArguments;
use crate::failure::Usage;
use crate::output::text::quoted;

/// How to reach a server, and how to answer its questions.
#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// The server, as [`take_target`](Self::take_target) has found it.
    #[arg(skip)]
    pub(crate) target_argument: TargetArgument,
    /// A URL, a command line as one argument, a name of the configuration file, or FILE or FILE:NAME of a file such as .mcp.json
    #[arg(index = 1)]
    target: Option<String>,
    /// The server's command and its arguments, in place of TARGET
    #[arg(index = 3, last = true, value_name = "CMD")]
    command: Vec<OsString>,
    /// Answer a field of a form for which the server asks; may be given again
    #[arg(long = "answer", value_name = "NAME=VALUE")]
    pub(crate) answers: Vec<Answer>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) headers: HeaderArguments,
    /// A folder to name to the server when it asks where it works; may be given again
    #[arg(long = "root", value_name = "DIR", value_parser = directory)]
    pub(crate) roots: Vec<PathBuf>,
    /// A variable for the environment of the command; may be given again
    #[arg(short = 'e', long = "env", value_name = "NAME=VALUE")]
    pub(crate) environment: Vec<Variable>,
    /// The directory in which to start the command [default: the current one]
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) cwd: Option<PathBuf>,
    /// The era of the protocol to use
    #[arg(long, value_enum, default_value_t = EraArgument::Auto)]
    pub(crate) era: EraArgument,
    /// How many seconds the server may take to answer; for `call`, without a report of progress, and 10 minutes at most with
    /// them, or this limit if it is longer
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) timeout: Duration,
}

/// The words of the command line that name a server.
#[derive(Debug)]
pub(crate) enum TargetArgument {
    /// A URL, a command line in one argument, or a name from a configuration file.
    Text(String),
    /// A command and its arguments, after `--`.
    Command(Vec<OsString>),
    /// The resolved target.
    Target(Box<Target>),
}

impl Default for TargetArgument {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// A variable of an environment. Its `Debug` output has no value, which is often a secret.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl std::fmt::Debug for Variable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variable").field("name", &self.name).finish_non_exhaustive()
    }
}

impl std::str::FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self { name: name.into(), value: value.into() }),
            _ => Err("write NAME=VALUE, as in API_KEY=secret".into()),
        }
    }
}

impl Connect {
    /// Finds the server: TARGET, or the command after `--`. Returns the arguments after TARGET.
    ///
    /// # Errors
    ///
    /// [`Usage`] if there are fewer arguments after TARGET than `names`, or more than `limit`.
    pub(crate) fn take_target(
        &mut self,
        mut words: Vec<String>,
        names: &[&str],
        limit: Option<usize>,
    ) -> Result<Vec<String>> {
        let (target, command) = (self.target.take(), std::mem::take(&mut self.command));
        self.target_argument = if command.is_empty() {
            let Some(target) = target else {
                let why = "the server is missing: write a URL, a quoted command line, or -- and the command";
                return Err(Usage(why.into()).into());
            };
            if is_runner(&target) && !words.is_empty() {
                let hint = unquoted(&target);
                return Err(Usage(format!("`{target}` alone is not a server; {hint}")).into());
            }
            TargetArgument::Text(target)
        } else {
            words.splice(..0, target);
            TargetArgument::Command(command)
        };
        if let Some(name) = names.get(words.len()) {
            return Err(Usage(format!("{name} is missing")).into());
        }
        match (limit, &self.target_argument) {
            (Some(limit), TargetArgument::Text(target))
                if words.len() > limit && !self.config.names_server(target) =>
            {
                Err(too_many(target))
            }
            (Some(limit), _) if words.len() > limit => {
                Err(Usage(format!("{} is one argument too many", quoted(&words[limit]))).into())
            }
            _ => Ok(words),
        }
    }
}

impl Connect {
    /// The target if it is one word, and neither a URL nor a file. It may be the first word of a command line that is not
    /// quoted.
    pub(crate) fn bare_program(&self) -> Option<&str> {
        match &self.target_argument {
            TargetArgument::Text(text) => Some(&**text).filter(|text| self.config.is_bare_program(text)),
            _ => None,
        }
    }
}

/// The advice to quote a command line. It names only the program: the arguments may have secrets.
pub(crate) fn unquoted(program: &str) -> String {
    let program = program.split_whitespace().next().unwrap_or("CMD");
    format!("if this is the command line of a server, quote it, or put -- before it: -- {program} …")
}

fn too_many(target: &str) -> anyhow::Error {
    Usage(format!("too many arguments; {}", unquoted(target))).into()
}

/// Programs that are not servers without arguments.
const RUNNERS: [&str; 16] = [
    "bash", "bun", "bunx", "deno", "docker", "node", "npm", "npx", "pipx", "pnpm", "podman", "python",
    "python3", "sh", "uv", "uvx",
];

fn is_runner(target: &str) -> bool {
    RUNNERS.contains(&target)
}

#[derive(Debug, Args)]
#[command(
    override_usage = "agentwire tools [OPTIONS] <TARGET> [TOOL]\n       agentwire tools [OPTIONS] [TOOL] -- <CMD>..."
)]
pub(crate) struct Tools {
    /// Show only this tool: all of its description, and its schemas
    #[arg(index = 2, value_name = "TOOL")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "agentwire call [OPTIONS] <TARGET> <TOOL> [ARGUMENT]...\n       agentwire call [OPTIONS] <TOOL> [ARGUMENT]... -- <CMD>..."
)]
pub(crate) struct Call {
    /// The tool's name, and its arguments: NAME=VALUE, of the type in the tool's schema; NAME:=JSON; NAME@FILE, the
    /// text of a file; a JSON object, in a file as @FILE, or on stdin as -. Objects and other arguments are merged: of a
    /// member of an object and another argument with its name, the later counts. Otherwise only NAME=VALUE of a list may be
    /// given again, for each element
    #[arg(index = 2, value_name = "ARGUMENT")]
    pub(crate) words: Vec<String>,
    /// Save images, sounds and other files of the result in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

/// The arguments of a command that needs only a server.
#[derive(Debug, Args)]
pub(crate) struct ServerOnly {
    #[arg(index = 2, hide = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "agentwire read [OPTIONS] <TARGET> <URI>\n       agentwire read [OPTIONS] <URI> -- <CMD>..."
)]
pub(crate) struct Read {
    /// The resource's URI
    #[arg(index = 2, value_name = "URI")]
    pub(crate) words: Vec<String>,
    /// Save the resource in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "agentwire prompt [OPTIONS] <TARGET> <PROMPT> [ARGUMENT]...\n       agentwire prompt [OPTIONS] <PROMPT> [ARGUMENT]... -- <CMD>..."
)]
pub(crate) struct Prompt {
    /// The prompt's name, and its arguments: NAME=VALUE; NAME@FILE, the text of a file; a JSON object, in a file as @FILE,
    /// or on stdin as -
    #[arg(index = 2, value_name = "ARGUMENT")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "agentwire complete [OPTIONS] <TARGET> <PROMPT|URI> <ARGUMENT> <VALUE> [NAME=VALUE]...\n       agentwire complete [OPTIONS] <PROMPT|URI> <ARGUMENT> <VALUE> [NAME=VALUE]... -- <CMD>..."
)]
pub(crate) struct Complete {
    /// A prompt's name or the URI template of a resource, the argument, the beginning of its value, and the arguments that
    /// are known already
    #[arg(index = 2, value_name = "ARGUMENT")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "agentwire request [OPTIONS] <TARGET> <METHOD> [JSON]\n       agentwire request [OPTIONS] <METHOD> [JSON] -- <CMD>..."
)]
pub(crate) struct Request {
    /// The method, and its parameters: a JSON object, @FILE, or - for stdin
    #[arg(index = 2, value_name = "ARGUMENT")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

/// The era of MCP to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EraArgument {
    /// Any that the server speaks.
    Auto,
    /// A session that begins with `initialize`: up to 2025-11-25.
    Legacy,
    /// Requests without a session: from 2026-07-28 on.
    Modern,
}

impl From<EraArgument> for Era {
    fn from(era: EraArgument) -> Self {
        match era {
            EraArgument::Auto => Self::Auto,
            EraArgument::Legacy => Self::Legacy,
            EraArgument::Modern => Self::Modern,
        }
    }
}
