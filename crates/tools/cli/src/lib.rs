//! The `agentwire` command as a library, for its own binary: [`main`] parses the command line, runs the subcommand, prints its error and
//! returns the exit code.
//!
//! This is not a stable API: everything but the command line itself may change in any release. Programs use the crates below this one.

#![cfg_attr(docsrs, feature(doc_cfg))]

// circle: failure/auth.rs, failure/http.rs: a login fails over HTTP, and a request over HTTP fails for want of a login.
// circle: recording/replay/http.rs, recording/replay/mod.rs, recording/replay/program.rs: each way to the live side runs the replay that `mod.rs` has.

mod absent;
mod agent;
#[cfg_attr(not(feature = "agents"), path = "absent/agents.rs")]
mod agents;
mod arguments;
mod call;
mod chat;
#[cfg_attr(not(feature = "check"), path = "absent/check.rs")]
mod check;
mod command_line;
mod config;
mod connect;
mod content;
mod descriptors;
mod failure;
mod features;
mod login;
#[cfg_attr(not(feature = "manual"), path = "absent/manual.rs")]
mod manual;
mod mcp;
mod mcp_config;
mod output;
mod programs;
mod questions;
#[cfg_attr(not(feature = "record"), path = "absent/recording.rs")]
mod recording;
mod save;
mod server;
mod server_target;
mod sessions;
mod signals;
mod target;
#[cfg_attr(not(feature = "telemetry"), path = "absent/telemetry.rs")]
mod telemetry;
mod terminal;
mod tools;

use std::process::ExitCode;

use anyhow::Result;
use clap::FromArgMatches as _;
use clap::error::ErrorKind;
use futures_util::future::LocalBoxFuture;

use self::arguments::{Arguments, Command};
use self::connect::Output;
use self::failure::{AlreadyPrinted, ProgramEnded, ToolFailed, Usage};
use self::output::print_json;
use self::recording::Recorder;
use self::telemetry::Telemetry;
use crate::output::text::Notes;

/// Runs the command with the arguments and the environment of the process.
pub fn main() -> ExitCode {
    let arguments = parse();
    let (json, verbose) = (arguments.command.prints_json(arguments.json), arguments.verbose);
    let code = match run(arguments) {
        Ok(()) => 0,
        Err(error) => {
            report(&error, json, verbose);
            failure::exit_code(&error)
        }
    };
    ExitCode::from(code)
}

/// Parses the command line. Ends the program if it is wrong.
fn parse() -> Arguments {
    let mut command = arguments::help::command();
    let read =
        command.try_get_matches_from_mut(arguments::help::without_help_flag(std::env::args_os().collect()));
    let read = read.and_then(|mut read| Arguments::from_arg_matches_mut(&mut read));
    read.map_err(|error| error.format(&mut command)).unwrap_or_else(|error| {
        let json = std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json");
        if let Some(missing) = features::missing_in(&error) {
            let error = anyhow::Error::new(Usage(missing));
            report(&error, json, false);
            std::process::exit(failure::exit_code(&error).into())
        }
        // Help is not a failure.
        if json && error.use_stderr() {
            let failure = anyhow::Error::new(Usage(arguments::help::first_paragraph(&error)));
            // If stdout is closed, stderr is all that is left.
            let _printed = print_json(&failure::to_json(&failure, failure::exit_code(&failure)));
        }
        let hint = match error.kind() {
            ErrorKind::UnknownArgument => {
                server_target::unquoted_hint(&std::env::args_os().collect::<Vec<_>>())
            }
            _ => None,
        };
        match hint {
            Some(hint) => {
                // If stderr is closed, no output is left.
                let _printed = error.print();
                output::text::print_error(&hint);
                std::process::exit(error.exit_code())
            }
            None => error.exit(),
        }
    })
}

/// Prints the failure of the command on stderr, and with JSON on stdout too. With --verbose, the failed attempts come first.
fn report(error: &anyhow::Error, json: bool, verbose: bool) {
    // Nothing is printed: the recorded program has printed its own error, or our output is closed.
    if error.is::<ProgramEnded>() || failure::is_output_closed(error) {
        return;
    }
    let has_json = error.chain().any(|cause| cause.is::<ToolFailed>() || cause.is::<AlreadyPrinted>());
    if json && !has_json {
        // If stdout is closed too, stderr is all that is left.
        let _printed = print_json(&failure::to_json(error, failure::exit_code(error)));
    }
    for attempt in failure::attempts(error).iter().filter(|_| verbose) {
        output::text::print_error(attempt);
    }
    output::text::print_error(&format!("error: {}", failure::sentence(error)));
}

fn run(arguments: Arguments) -> Result<()> {
    descriptors::check(descriptors::NEEDED)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let notes = Notes::new();
    let outcome = runtime.block_on(async {
        let outcome = execute(arguments, &notes).await;
        notes.written().await;
        outcome
    });
    // A thread may still read from the terminal. Without this, the runtime would wait for it.
    runtime.shutdown_background();
    outcome
}

async fn execute(mut arguments: Arguments, notes: &Notes) -> Result<()> {
    signals::survive_file_size_limit()?;
    if arguments.json
        && let Some(name) = arguments.command.without_json()
    {
        return Err(Usage(format!("--json: `{name}` prints no JSON")).into());
    }
    arguments.command.take_target()?;
    let recorder = recording::start(&arguments, notes)?;
    let telemetry = Telemetry::start(&arguments, notes)?;
    let outcome = run_command(arguments, notes, recorder.clone(), &telemetry).await;
    telemetry.finish().await;
    if let Some(recorder) = recorder {
        recording::finish(&recorder, notes);
    }
    outcome
}

async fn run_command(
    arguments: Arguments,
    notes: &Notes,
    recorder: Option<Recorder>,
    telemetry: &Telemetry,
) -> Result<()> {
    let Arguments { json, verbose, command, .. } = arguments;
    let output = Output { json, verbose, notes, recorder: recorder.clone(), telemetry };
    // Boxed, since the future of all commands in one is much larger and slow to compile.
    let run: LocalBoxFuture<'_, Result<()>> = match command {
        Command::Chat(chat) => Box::pin(chat::run(chat, output)),
        Command::Agents(agents) => Box::pin(agents::run(agents, json, notes)),
        Command::Agent(agent) => Box::pin(agent::run(agent, notes, recorder, telemetry)),
        Command::Server(server) => Box::pin(server::run(server, notes, recorder, telemetry)),
        Command::Tools(tools) => Box::pin(tools::tools(tools, output)),
        Command::Call(call) => Box::pin(call::run(call, output)),
        Command::Inspect(server) => Box::pin(mcp::inspect(server, output)),
        Command::Resources(server) => Box::pin(mcp::resources(server, output)),
        Command::Read(read) => Box::pin(mcp::read(read, output)),
        Command::Prompts(server) => Box::pin(mcp::prompts(server, output)),
        Command::Prompt(prompt) => Box::pin(mcp::prompt(prompt, output)),
        Command::Complete(complete) => Box::pin(mcp::complete(complete, output)),
        Command::Request(request) => Box::pin(mcp::request(request, output)),
        Command::Login(login) => Box::pin(login::login(login, json, notes)),
        Command::Logout(logout) => Box::pin(login::logout(logout, json, notes)),
        Command::Check(check) => Box::pin(check::run(check, json, verbose)),
        Command::Sessions(sessions) => return sessions::run(sessions, json),
        Command::Recordings(command) => Box::pin(recording::run(command, json, notes, recorder)),
        Command::Manual(command) => return manual::run(&command),
    };
    run.await
}
