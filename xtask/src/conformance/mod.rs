//! `cargo xtask conformance`: judges our programs, and those of others, by our suite and by the official suite of MCP.

mod official;
mod own;
mod table;

use std::path::Path;

use anyhow::{Result, bail};
use lexopt::prelude::*;

use crate::bench;

const USAGE: &str = "\
cargo xtask conformance [all | mutants | official … | others [NAME]... | SUBJECT …]

                without a word: our programs, judged by `agentwire check`, and the scripts
  all           these, and the official suite of MCP, with one table at the end
  mutants       the suite itself: each check has to catch the wrong programs that are made for it
  official …    the official suite of MCP; `official --help` says more
  others        programs of other projects; writes docs/conformance/results.md when each has a report, from this run or before
  SUBJECT …     `agentwire check SUBJECT …`: acp-agent, acp-client, acp-proxy, acp-conductor, mcp-server or mcp-client, and
                what its help says";

/// Runs what the command line names. Exits with 1 when something failed.
pub(crate) fn run(root: &Path, mut arguments: lexopt::Parser) -> Result<()> {
    let layer = match arguments.next()? {
        None => return table::finish(&own::judge(root)?),
        Some(Value(layer)) => layer.string()?,
        Some(_) => bail!("{USAGE}"),
    };
    match layer.as_str() {
        // Its last line counts the scenarios, and no table follows it.
        "official" => table::expect_passed(&official::run(root, arguments)?),
        "mutants" => own::judge_mutants(root),
        "all" => {
            let mut rows = own::judge(root)?;
            rows.extend(official::run(root, arguments)?);
            table::finish(&rows)
        }
        "others" => bench::run(root, &layer, arguments),
        "acp-agent" | "acp-client" | "acp-proxy" | "acp-conductor" | "mcp-server" | "mcp-client" => {
            let rest = arguments.raw_args()?.collect::<Vec<_>>();
            own::check(root, &layer, &rest)
        }
        _ => bail!("{USAGE}"),
    }
}
