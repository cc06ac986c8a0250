//! The command line.

pub(crate) mod files;
pub(crate) mod headers;
pub(crate) mod help;
pub(crate) mod values;
pub(crate) mod words;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::arguments::headers::Secret;
use crate::arguments::values::{NamedTarget, NamedValue, command, directory, seconds};
use crate::chat::options::ChatOptions;
use crate::config::ConfigArguments;
use crate::mcp::arguments::{Call, Complete, Prompt, Read, Request, ServerOnly, Tools};
use crate::server::Server;
use crate::terminal::Format;
use crate::{agents, check, manual, recording, telemetry};

/// Talks ACP and MCP: chats with agents, serves and calls tools.
///
/// Exit codes: 0 done, 1 the other side failed or refused, 2 wrong usage, 3 a login is needed or was refused, 4 the other side
/// cannot be started or reached, 5 the tool failed, 6 not permitted, 124 the time is over, 130 and 143 ended by SIGINT and
/// SIGTERM, 141 the reader of the output is gone.
///
/// An option wins over an environment variable, and that over the configuration file.
#[derive(Debug, Parser)]
#[command(name = "agentwire", version, next_help_heading = "Options of every command")]
pub(crate) struct Arguments {
    /// Print one JSON object a line, for programs.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show failed connection attempts, and the stderr of a healthy agent or server
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) recording: recording::RecordingOptions,
    #[command(flatten)]
    pub(crate) telemetry: telemetry::TelemetryOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk to an ACP agent.
    ///
    /// With PROMPT, or when stdin is not a terminal, runs one turn. ^C cancels the turn.
    Chat(Chat),
    #[command(flatten)]
    Agents(agents::Commands),
    /// Serve an ACP agent on stdin and stdout.
    Agent(Agent),
    /// Serve an MCP server with tools to try clients with.
    Server(Server),
    /// List the tools of an MCP server, or show one.
    Tools(Tools),
    /// Call a tool of an MCP server.
    Call(Call),
    /// Show what an MCP server is and offers: its name, revision, capabilities and lists.
    #[command(
        override_usage = "agentwire inspect [OPTIONS] <TARGET>\n       agentwire inspect [OPTIONS] -- <CMD>..."
    )]
    Inspect(ServerOnly),
    /// List the resources of an MCP server, and the templates of their URIs.
    #[command(
        override_usage = "agentwire resources [OPTIONS] <TARGET>\n       agentwire resources [OPTIONS] -- <CMD>..."
    )]
    Resources(ServerOnly),
    /// Read a resource of an MCP server.
    Read(Read),
    /// List the prompts of an MCP server.
    #[command(
        override_usage = "agentwire prompts [OPTIONS] <TARGET>\n       agentwire prompts [OPTIONS] -- <CMD>..."
    )]
    Prompts(ServerOnly),
    /// Get a prompt of an MCP server, with its arguments filled in.
    Prompt(Prompt),
    /// List how an argument of a prompt or of a resource's URI can go on.
    Complete(Complete),
    /// Make any request to an MCP server, and print the result.
    Request(Request),
    /// Log in at an MCP server at a URL, with a browser.
    ///
    /// The token is kept in a file that only you can read. `chat`, `agent` and the commands that talk to an MCP server send and
    /// renew it.
    Login(Login),
    /// Forget the token of an MCP server, and revoke it.
    Logout(Logout),
    #[command(flatten)]
    Check(check::Commands),
    /// Check or repair the stored sessions of our own agent.
    #[command(subcommand)]
    Sessions(Sessions),
    #[command(flatten)]
    Recordings(recording::Commands),
    #[command(flatten)]
    Manual(manual::Commands),
}

impl Command {
    /// The name of a command that ignores `--json`, because another program prescribes the format of its stdout.
    pub(crate) fn without_json(&self) -> Option<&'static str> {
        match self {
            Self::Agent(_) => Some("agent"),
            Self::Server(_) => Some("server"),
            Self::Check(command) => command.without_json(),
            Self::Recordings(command) => command.without_json(),
            Self::Manual(command) => command.without_json(),
            _ => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// Name each damaged session, and the place; exit with 1 if there are any
    Check(SessionStore),
    /// Keep the sound records of each damaged session, and move the others to separate files
    Repair(SessionStore),
}

#[derive(Debug, Args)]
pub(crate) struct SessionStore {
    /// The directory of the sessions
    #[arg(long, value_name = "DIR")]
    pub(crate) store: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Login {
    /// The URL of the server, or its name in the configuration file
    pub(crate) url: String,
    /// A scope to ask for; may be given again [default: what the server asks for]
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,
    /// The id of a client that is registered at the authorization server [default: registered now]
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// A file with the client's secret
    #[arg(long, value_name = "FILE", requires = "client_id")]
    pub(crate) client_secret_file: Option<PathBuf>,
    /// The value of `resource`, which is not sent if empty [default: as the server's metadata has it]
    #[arg(long, value_name = "TEXT")]
    pub(crate) resource: Option<String>,
    /// The issuer of the authorization server, in place of the one that the server's metadata names
    #[arg(long, value_name = "URL")]
    pub(crate) issuer: Option<String>,
    /// A parameter for the URL to log in at, as in access_type=offline; may be given again
    #[arg(long = "parameter", value_name = "NAME=VALUE")]
    pub(crate) parameters: Vec<NamedValue>,
    /// Use PKCE even if the authorization server does not say that it supports it
    #[arg(long)]
    pub(crate) assume_pkce: bool,
    /// The port of the redirect, for a client that is registered with one [default: any that is free]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The URL of the server, or its name in the configuration file
    pub(crate) url: String,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("talking").multiple(true))]
pub(crate) struct Chat {
    /// The agent: a name of the configuration file, else the id of an installed agent (see `agents`), else a command line
    /// [default: $AGENTWIRE_AGENT, else `chat.agent` of the configuration file, else our own agent]
    #[arg(long, value_name = "NAME|CMD", value_parser = command)]
    pub(crate) agent: Option<String>,
    /// The session's directory [default: the current one]
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) cwd: Option<PathBuf>,
    /// An MCP server for the session: its name, and its command line or URL; may be given again
    #[arg(long, value_name = "NAME=TARGET")]
    pub(crate) mcp: Vec<NamedTarget>,
    /// A file with MCP servers for the session, such as .mcp.json; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// A header for the server with that name, at a URL, as in 'web=Authorization: Bearer …'; may be given again. Other
    /// users of this machine can read it
    #[arg(long = "header", value_name = "NAME=HEADER: VALUE")]
    pub(crate) headers: Vec<Secret>,
    /// A file with headers for the server with that name, one a line; may be given again
    #[arg(long = "header-file", value_name = "NAME=FILE")]
    pub(crate) header_files: Vec<NamedValue>,
    /// Grant every permission that no --deny refuses. Without it, without a person at a terminal, and without a rule that
    /// allows it, the agent runs no commands and writes no files through this program, and every permission is refused
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) chat_options: ChatOptions,
    /// Continue the newest session of the directory
    #[arg(long = "continue", group = "which")]
    pub(crate) resume: bool,
    /// Continue this session
    #[arg(long, visible_alias = "resume", value_name = "ID", group = "which")]
    pub(crate) session: Option<String>,
    /// List the agent's sessions, those of --cwd if it is given, and end
    #[arg(long, group = "which", conflicts_with = "talking")]
    pub(crate) list: bool,
    /// Delete a session, and end
    #[arg(long, value_name = "ID", group = "which", conflicts_with = "talking")]
    pub(crate) delete: Option<String>,
    /// Change to this mode, given by its id or name, before the first prompt
    #[arg(long, value_name = "MODE", group = "talking")]
    pub(crate) mode: Option<String>,
    /// Set an option before the first prompt; may be given again. Options are set before the mode. A value that the agent
    /// does not keep is an error
    #[arg(long = "option", value_name = "ID=VALUE", group = "talking")]
    pub(crate) options: Vec<NamedValue>,
    /// The version of the protocol
    #[arg(long, value_enum, default_value_t = Protocol::One)]
    pub(crate) protocol: Protocol,
    /// How many seconds the agent may take to open the session, and with a single prompt to end its turn, both together
    /// [default: 60 to open the session, and no limit for the turn]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// The prompt; @PATH in it stands for a file, and @@ for @. Text from a pipe at stdin is added to it; `-` stands for that
    /// text alone
    #[arg(group = "talking")]
    pub(crate) prompt: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Agent {
    /// The directory to store sessions in [default: none, sessions end with the agent]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// How many seconds an MCP server may take to start, and to answer a call [default: 30 and 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}

/// The versions of ACP to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// The newest that both speak, drafts included.
    Auto,
    /// The stable one.
    #[value(name = "1")]
    One,
    /// The draft of the next one.
    #[value(name = "2")]
    Two,
}

impl Command {
    /// Whether the command prints our JSON on stdout. `json` is whether `--json` is given.
    pub(crate) fn prints_json(&self, json: bool) -> bool {
        match self {
            Self::Chat(chat) => json || chat.chat_options.format == Some(Format::Json),
            _ => json && self.without_json().is_none(),
        }
    }

    /// The name of a command that has connections of MCP or ACP.
    pub(crate) fn connecting(&self) -> Option<&'static str> {
        Some(match self {
            Self::Chat(_) => "chat",
            Self::Agent(_) => "agent",
            Self::Server(_) => "server",
            Self::Tools(_) => "tools",
            Self::Call(_) => "call",
            Self::Inspect(_) => "inspect",
            Self::Resources(_) => "resources",
            Self::Read(_) => "read",
            Self::Prompts(_) => "prompts",
            Self::Prompt(_) => "prompt",
            Self::Complete(_) => "complete",
            Self::Request(_) => "request",
            _ => return None,
        })
    }

    /// Separates the target from the other words, in a command that connects to a server.
    pub(crate) fn take_target(&mut self) -> Result<()> {
        let (connect, words, names, limit): (_, _, &[_], _) = match self {
            Self::Tools(Tools { connect, words }) => (connect, words, &[], Some(1)),
            Self::Call(Call { connect, words, .. }) => (connect, words, &["TOOL"], None),
            Self::Inspect(server) | Self::Resources(server) | Self::Prompts(server) => {
                (&mut server.connect, &mut server.words, &[], Some(0))
            }
            Self::Read(Read { connect, words, .. }) => (connect, words, &["URI"], Some(1)),
            Self::Prompt(Prompt { connect, words }) => (connect, words, &["PROMPT"], None),
            Self::Complete(Complete { connect, words }) => {
                (connect, words, &["PROMPT or URI", "ARGUMENT", "VALUE"], None)
            }
            Self::Request(Request { connect, words }) => (connect, words, &["METHOD"], Some(2)),
            _ => return Ok(()),
        };
        *words = connect.take_target(std::mem::take(words), names, limit)?;
        Ok(())
    }
}
