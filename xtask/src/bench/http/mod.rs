//! `cargo xtask bench http`: MCP over Streamable HTTP, our server and client beside rmcp's and a bare hyper server.
//!
//! The load generator speaks HTTP/1.1 over plain sockets and parses no more of it than it must. It runs on one core and the
//! subject on another, so calls per second are those of one core of a server. With one connection, both share a core, as in
//! the other suite.

mod calls;
mod clients;
pub(super) mod form;
mod load;
pub(super) mod response;
mod sessions;

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result};

use super::pace::Pace;
use super::process::{Cores, Process};
use super::subject::{Launch, Programs};
use super::table::Report;
use super::{Options, Wanted, check, finish};
use form::Form;

pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let scenarios = [calls::SCENARIOS.as_slice(), &sessions::SCENARIOS, &clients::SCENARIOS];
    let wanted = Wanted::new(options, scenarios.into_iter().flatten())?;
    eprintln!("building the programs in release mode");
    let programs = Programs::build_http(root, options.sides())?;
    let (servers, clients) = (programs.http_servers(), programs.http_clients());
    let pace = if options.quick { Pace::quick() } else { Pace::full() };
    let (mut others, mut reports) = (Vec::new(), Vec::new());
    if wanted.any(&calls::SCENARIOS) || wanted.any(&sessions::SCENARIOS) {
        check(&servers, calls::check)?;
        calls::check_limit(&servers)?;
        let mut measured = wanted.measure(&calls::SCENARIOS, &servers, &pace, &mut others)?;
        measured.extend(wanted.measure(&sessions::SCENARIOS, &servers, &pace, &mut others)?);
        reports.push(Report { title: "MCP servers over HTTP", subjects: &servers, measured });
    }
    if wanted.any(&clients::SCENARIOS) {
        let measured = wanted.measure(&clients::SCENARIOS, &clients, &pace, &mut others)?;
        reports.push(Report {
            title: "MCP clients over HTTP, against the limit's server",
            subjects: &clients,
            measured,
        });
    }
    finish(&reports, &pace, &others, options)
}

/// Starts a server that answers in a form, on the subject's core or on ours, and returns its address.
pub(super) fn start(launch: &Launch, form: Form, cores: Option<&Cores>) -> Result<(Process, SocketAddr)> {
    let launch = launch.clone().with("FORM", form.name());
    let server = match cores {
        Some(cores) => cores.start(&launch, &[])?,
        None => Process::start(&launch, &[])?,
    };
    server.prepare(|server| {
        let line = std::str::from_utf8(server.lines.next()?)?;
        line.parse().with_context(|| format!("{line:?} is no address"))
    })
}
