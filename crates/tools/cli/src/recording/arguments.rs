//! The options of every command about recordings, and the command lines of `record`, `replay` and `reduce`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::arguments::headers::Secret;
use crate::arguments::values::{address, seconds};

#[derive(Debug, Args)]
pub(crate) struct RecordingOptions {
    /// Record the messages that pass in a file, without secrets: those of chat, agent, server, record and the commands that talk
    /// to an MCP server
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Write each message to a file as it passes, in place of --record: a line of JSON with the time and the direction, without
    /// secrets
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "record")]
    pub(crate) trace: Option<PathBuf>,
    /// Mask what a regular expression matches, or its first group, in the recording as well; may be given again
    #[arg(long = "mask", global = true, value_name = "REGEX")]
    pub(crate) masks: Vec<String>,
    /// Record secrets as they are
    #[arg(long, global = true, conflicts_with = "masks")]
    pub(crate) no_mask: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Commands {
    /// Stand between a client and a program or a server, and record what passes.
    ///
    /// Passes on every byte of stdin, stdout and stderr, and ends with the program's exit code. With --http, it is a reverse
    /// proxy for an MCP server at a URL. The recording is in the file of --record, else in agentwire-SECONDS.jsonl in the current
    /// folder.
    Record(Record),
    /// Play one side of a recording against the other side, and print what differs.
    ///
    /// Exit codes: 0 nothing differs, 1 something differs.
    Replay(Replay),
    /// Shrink a recording whose replay differs, as long as the first difference stays the same.
    Reduce(Reduce),
}

impl Commands {
    /// The name of a command to which `--json` means nothing.
    pub(crate) fn without_json(&self) -> Option<&'static str> {
        matches!(self, Self::Record(_)).then_some("record")
    }
}

#[derive(Debug, Args)]
pub(crate) struct Record {
    /// Listen at HOST:PORT, for a server at a URL; port 0 is any that is free
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) http: Option<String>,
    /// The program and its arguments, or a URL with --http
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) target: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("other").multiple(false))]
pub(crate) struct Replay {
    /// The recording
    pub(crate) file: PathBuf,
    /// The side to play [default: client against CMD or a URL, else the agent or server]
    #[arg(long = "as", value_enum, value_name = "SIDE")]
    pub(crate) side: Option<PlayedSide>,
    /// Keep the recorded pauses
    #[arg(long)]
    pub(crate) realtime: bool,
    /// The URL of the server to play the client against
    #[arg(long, value_name = "URL", group = "other")]
    pub(crate) url: Option<String>,
    /// A header to send to the URL with every request; may be given again. Other users of this machine can read it
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url")]
    pub(crate) headers: Vec<Secret>,
    /// Play the server at HOST:PORT, over Streamable HTTP at /mcp and HTTP+SSE at /sse
    #[arg(long, value_name = "ADDR", value_parser = address, group = "other")]
    pub(crate) http: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: Comparison,
    /// The program to play the client against, and its arguments [default: the side speaks on stdin and stdout]
    #[arg(last = true, value_name = "CMD", group = "other")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Comparison {
    /// A JSON Pointer from the message on, whose value is not compared; * is any one step, ** any number; may be given again
    #[arg(long = "ignore", value_name = "POINTER", value_parser = json_pointer)]
    pub(crate) ignored: Vec<String>,
    /// How many seconds the other side may be silent while it is waited for
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct Reduce {
    /// The recording
    pub(crate) file: PathBuf,
    /// The file for the smaller recording [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How often the recording may be played
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    pub(crate) runs: usize,
    #[command(flatten)]
    pub(crate) comparison: Comparison,
    /// The program to play the client against, and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// The side of a recording that is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlayedSide {
    /// The client.
    Client,
    /// The agent of ACP.
    Agent,
    /// The server of MCP.
    Server,
}

/// Checks a JSON Pointer.
fn json_pointer(text: &str) -> Result<String, String> {
    if text.starts_with('/') { Ok(text.to_owned()) } else { Err("a JSON Pointer begins with /".into()) }
}
