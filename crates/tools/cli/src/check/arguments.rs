//! The arguments of `check`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use agentwire_conformance::{Level, Revision, SubjectKind, Transport};
use clap::{Args, Subcommand, ValueEnum};

use crate::arguments::headers::HeaderArguments;
use crate::arguments::values::seconds;

#[derive(Debug, Subcommand)]
pub(crate) enum Commands {
    /// Judge a program that speaks ACP or MCP against what the specifications demand.
    ///
    /// Without a subject, judges this program. Exits with 1 if a requirement of the chosen level is broken. With --verbose, prints the
    /// checks that pass as well.
    Check(Box<Check>),
    /// Pass bytes on between a client under test and `check`.
    #[command(hide = true)]
    StandIn(StandIn),
}

impl Commands {
    /// The name of a command to which `--json` means nothing.
    pub(crate) fn without_json(&self) -> Option<&'static str> {
        matches!(self, Self::StandIn(_)).then_some("stand-in")
    }
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The program to judge [default: our own programs]
    #[arg(value_enum)]
    pub(crate) subject: Option<Subject>,
    /// The URL of a server or an agent
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// The transport [for a URL of http or ws: that one]; a server or an agent that is started prints its URL on one of its outputs
    #[arg(long, value_enum, default_value_t = TransportName::Stdio)]
    pub(crate) transport: TransportName,
    /// A version of ACP or a revision of MCP; may be given again [default: all]
    #[arg(long = "revision", value_name = "REVISION")]
    pub(crate) revisions: Vec<Revision>,
    /// The tools, prompts and commands of the program that the checks may use: a file, or the name of a built-in profile
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) profile: Option<String>,
    /// Call tools of a server whatever they declare; without this, only tools that declare readOnlyHint or that the profile names are
    /// called
    #[arg(long)]
    pub(crate) call_any: bool,
    /// Play a script in place of the suite's own checks, or each script of a folder; may be given again
    #[arg(long = "script", value_name = "FILE|FOLDER", requires = "subject")]
    pub(crate) scripts: Vec<PathBuf>,
    /// Judge this requirement alone, as in mcp/RPC-06; may be given again
    #[arg(long, value_name = "ID")]
    pub(crate) only: Vec<String>,
    /// How many checks run at a time; with 1, one process of the program runs at a time
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) jobs: NonZeroUsize,
    /// How many seconds the program may take for a message
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Chooses the order in which the checks run
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// From which level on a failure counts for the exit code
    #[arg(long, value_enum, default_value_t = LevelName::Must)]
    pub(crate) level: LevelName,
    /// A file of known failures, each with a reason; one that no longer fails is an error. Also MCP's official
    /// conformance-baseline.yml
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the failures of this run as a baseline, and exit with 0; entries of the file that still fail keep their reasons
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) headers: HeaderArguments,
    #[command(flatten)]
    pub(crate) reports: ReportFiles,
    /// Print how many of the requirements have a check, and which lack one
    #[arg(long, conflicts_with = "subject")]
    pub(crate) coverage: bool,
    /// The program and its arguments as one line, in place of -- CMD
    #[arg(long = "command", value_name = "LINE", conflicts_with_all = ["url", "command"])]
    pub(crate) line: Option<String>,
    /// The program and its arguments; {tmp} in an argument is a new folder for each start
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}

/// Where reports are written.
#[derive(Debug, Default, Args)]
pub(crate) struct ReportFiles {
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json_file: Option<PathBuf>,
    /// Write a report for CI systems
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a report for code hosts
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write a summary in Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write one page of HTML that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// The kind of program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// An agent of ACP
    AcpAgent,
    /// A client of ACP; in its arguments, {target} is the agent's command line or URL
    AcpClient,
    /// A proxy of ACP
    AcpProxy,
    /// A conductor of ACP; in its arguments, {proxy} and {agent} are the command lines of its components
    AcpConductor,
    /// A server of MCP
    McpServer,
    /// A client of MCP; in its arguments, {target} is the server's command line or URL
    McpClient,
}

impl From<Subject> for SubjectKind {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::AcpAgent => Self::AcpAgent,
            Subject::AcpClient => Self::AcpClient,
            Subject::AcpProxy => Self::AcpProxy,
            Subject::AcpConductor => Self::AcpConductor,
            Subject::McpServer => Self::McpServer,
            Subject::McpClient => Self::McpClient,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportName {
    /// Standard input and output
    Stdio,
    /// Streamable HTTP
    Http,
    /// HTTP+SSE, of MCP alone
    Sse,
    /// WebSocket, of ACP alone
    Ws,
}

impl From<TransportName> for Transport {
    fn from(name: TransportName) -> Self {
        match name {
            TransportName::Stdio => Self::Stdio,
            TransportName::Http => Self::Http,
            TransportName::Sse => Self::Sse,
            TransportName::Ws => Self::Ws,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelName {
    /// The demands of the specification
    Must,
    /// Its recommendations and implications as well
    Should,
    /// Everything
    May,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Must => Self::Must,
            LevelName::Should => Self::Should,
            LevelName::May => Self::May,
        }
    }
}

/// The arguments of the hidden `stand-in`.
#[derive(Debug, Args)]
pub(crate) struct StandIn {
    pub(crate) address: String,
    pub(crate) token: String,
    /// The client's additions, which the stand-in reports to `check`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) added: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_subject_can_be_named() {
        let named: Vec<SubjectKind> =
            Subject::value_variants().iter().map(|subject| (*subject).into()).collect();
        assert_eq!(named, SubjectKind::ALL);
        for subject in Subject::value_variants() {
            let value = subject.to_possible_value().expect("no subject is hidden");
            assert_eq!(value.get_name(), SubjectKind::from(*subject).as_str());
            assert!(value.get_help().is_some(), "{} has no help", value.get_name());
        }
    }
}
