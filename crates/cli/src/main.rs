//! The `agentwire` command: parses the command line, runs the subcommand, prints its error and sets the exit code.

mod agent;
mod arguments;
mod call;
mod chat;
mod check;
mod connect;
mod failure;
mod headers;
mod login;
mod output;
mod output_queue;
mod server;
mod sessions;
mod signals;
mod terminal;
mod text;
mod tools;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use self::arguments::{Arguments, Command};
use self::failure::{AlreadyPrinted, ToolFailed, Usage};
use self::output::print_json;
use self::text::Notes;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let json = arguments.json;
    let code = match run(arguments) {
        Ok(()) => 0,
        Err(error) if error.is::<Usage>() => {
            text::print_error(&format!("error: {}", failure::sentence(&error)));
            2
        }
        Err(error) => {
            if json && !error.chain().any(|cause| cause.is::<ToolFailed>() || cause.is::<AlreadyPrinted>()) {
                // If stdout is closed too, stderr is all that is left.
                let _printed = print_json(&failure::to_json(&error));
            }
            text::print_error(&format!("error: {}", failure::sentence(&error)));
            1
        }
    };
    ExitCode::from(code)
}

fn run(arguments: Arguments) -> Result<()> {
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

async fn execute(arguments: Arguments, notes: &Notes) -> Result<()> {
    let json = arguments.json;
    signals::survive_file_size_limit()?;
    match arguments.command {
        Command::Chat(chat) => chat::run(chat, json, notes).await,
        Command::Agent(agent) => agent::run(agent, notes).await,
        Command::Server(server) => server::run(server, notes).await,
        Command::Tools(tools) => tools::list(tools, json, notes).await,
        Command::Call(call) => call::run(call, json, notes).await,
        Command::Login(login) => login::login(login, json, notes).await,
        Command::Logout(logout) => login::logout(logout, json).await,
        Command::Check(check) => check::run(check, json).await,
        Command::StandIn(stand_in) => check::stand_in(stand_in).await,
        Command::Sessions(sessions) => sessions::run(sessions, json),
    }
}
