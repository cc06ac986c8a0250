//! Kills the nodes of a server, and its engine, while clients use them through a balancer, and finds what contradicts a promise.
//!
//! `cargo xtask replicas` builds and starts it. The promises:
//!
//! - An acknowledged call happened, once. A result with an event id can be replayed.
//! - Nothing is done twice. What was refused is not done.
//! - A resumed stream has no gap and no repetition.
//! - A session is unknown to other principals.
//! - A subscriber is notified of the last change.
//! - A task ends once, wherever it is asked for, answered and cancelled. One that was cancelled never has a result.
#![allow(clippy::print_stdout, reason = "the result is what it prints")]

mod balancer;
mod clients;
mod costs;
mod engine;
mod exchange;
mod history;
mod jobs;
mod kills;
mod listener;
mod modern;
mod nodes;
mod options;
mod own;
mod peers;
mod prober;
mod random;
mod run;
mod serve;
mod session;
mod summary;
mod wire;

use std::process::ExitCode;

use anyhow::Result;

use self::options::Options;

fn main() -> Result<ExitCode> {
    let options = Options::parse(lexopt::Parser::from_env())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let kept = runtime.block_on(async {
        match &options.serve {
            _ if options.costs => costs::run(&options).await.map(|()| true),
            Some(program) => serve::run(&options, program).await.map(|()| true),
            None => run::run(&options).await,
        }
    })?;
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
