//! `cargo xtask bench stdio` and `cargo xtask bench http`: our programs, the rivals' and hand-written loops, side by side in
//! one run. `cargo xtask bench schema` compares types alone, and `cargo xtask bench size` the build costs of small programs.
//! `cargo xtask bench chat` measures our command at a terminal.
//!
//! One load generator (`stdio::wire`) drives all of them, so a difference is the subjects'. Subjects take turns within each
//! repetition and every repetition starts new programs; a row's number is the median. The limit programs are blocking
//! loops for this purpose alone: they show what the machine can do.

mod chat;
mod http;
mod lines;
mod options;
mod pace;
mod package;
mod process;
mod rows;
mod scenario;
mod schema;
mod size;
mod stdio;
mod subject;
mod suite;
mod table;

use std::path::Path;

use anyhow::{Result, bail};

use self::options::{Options, USAGE};

/// Runs the command with the arguments that follow `bench`.
pub(crate) fn run(root: &Path, arguments: lexopt::Parser) -> Result<()> {
    let (mut options, suite) = Options::parse(arguments)?;
    match suite.as_deref() {
        Some("schema" | "size" | "chat") if options.against.is_some() => {
            bail!("--against is for stdio and http\n\n{USAGE}")
        }
        // Its measurements run in programs that it builds in release mode.
        Some("schema") => schema::run(root, &options),
        Some("size") => {
            options.check |= !options.rivals_only;
            size::run(root, &options)
        }
        Some("stdio") => stdio::run(root, &options),
        Some("http") => http::run(root, &options),
        Some("chat") => chat::run(root, &options),
        Some(chat::AGENT) => chat::agent(&options),
        _ => bail!("{USAGE}"),
    }
}
