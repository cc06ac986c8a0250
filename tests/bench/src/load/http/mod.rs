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
pub(super) mod server;
mod sessions;

use std::path::Path;

use anyhow::Result;

use super::options::Options;
use super::pace::Pace;
use super::subject::Programs;
use super::suite::{Wanted, check, finish};
use super::table::Report;

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
