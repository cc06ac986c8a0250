//! `cargo xtask bench stdio`: agents and clients of ACP, and servers of MCP, over pipes.

mod acp;
pub(super) mod mcp;
pub(super) mod minimal;
pub(super) mod wire;

use std::path::Path;

use anyhow::Result;

use crate::load::options::Options;
use crate::load::pace::Pace;
use crate::load::scenario;
use crate::load::subject::{Programs, Subject};
use crate::load::suite::{Wanted, check, finish};
use crate::load::table::Report;

pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let all = acp::SCENARIOS.iter().chain(&mcp::SCENARIOS).chain([&minimal::SCENARIO]);
    let wanted = Wanted::new(options, all)?;
    eprintln!("building the programs in release mode");
    let programs = Programs::build(root, options.sides())?;
    let (acp, mcp) = (programs.acp(root, wanted.build)?, programs.mcp());
    let pace = if options.quick { Pace::quick() } else { Pace::full() };
    let mut others = Vec::new();

    let mut reports = Vec::new();
    if wanted.any(&acp::SCENARIOS) || wanted.build {
        check(&acp, acp::check)?;
        let mut measured = wanted.measure(&acp::SCENARIOS, &acp, &pace, &mut others)?;
        if wanted.build {
            eprintln!("measuring {}", minimal::SCENARIO.name);
            let has_one = |subject: &Subject| subject.package.is_some();
            measured.extend(scenario::run(&minimal::SCENARIO, &acp, has_one, &pace, 1, &mut others)?);
        }
        reports.push(Report { title: "ACP over stdio", subjects: &acp, measured });
    }
    if wanted.any(&mcp::SCENARIOS) {
        check(&mcp, mcp::check)?;
        let measured = wanted.measure(&mcp::SCENARIOS, &mcp, &pace, &mut others)?;
        reports.push(Report { title: "MCP over stdio", subjects: &mcp, measured });
    }
    finish(&reports, &pace, &others, options)
}
