//! Judges an MCP server on stdio: `judge CMD ARGS…`. `agentwire check` does this and more.

#![allow(clippy::print_stdout, reason = "an example of a command")]

use std::error::Error;

use agentwire_conformance::{CommandLine, Config, Level, SubjectKind, Target, result_lines, sums};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let command = CommandLine::new(std::env::args().skip(1)).ok_or("judge CMD ARGS…")?;
    let config = Config::new(SubjectKind::McpServer, Target::Command(command));
    let report = config.run(&()).await?;
    report.failures(Level::May).for_each(|failure| print!("{}", result_lines(failure)));
    println!("{}", sums(&[report]));
    Ok(())
}
