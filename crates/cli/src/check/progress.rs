//! What `check` shows while it runs, and the findings afterwards.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_conformance::{CheckResult, Config, Progress, Report, Verdict, result_lines};
use anyhow::Result;

use crate::output::print_json;
use crate::text;

/// Counts at a terminal; with `--json` a line for each result.
pub(super) struct TerminalProgress {
    title: String,
    counted: bool,
    json: bool,
    planned: AtomicUsize,
    finished: AtomicUsize,
    failed: AtomicUsize,
}

impl TerminalProgress {
    pub(super) fn new(config: &Config, verbose: bool, json: bool) -> Self {
        let title = text::one_line(&format!("{} over {}: {}", config.kind, config.transport, config.target));
        let counted = io::stderr().is_terminal() && !verbose && !json;
        if !json && !counted {
            eprintln!("{title}");
        }
        Self {
            title,
            counted,
            json,
            planned: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
        }
    }

    /// Removes the counting line, and leaves what was judged.
    pub(super) fn end(&self) {
        if self.counted {
            eprintln!("\r\x1b[K{}", self.title);
        }
    }
}

impl Progress for TerminalProgress {
    fn planned(&self, checks: usize) {
        self.planned.store(checks, Ordering::Relaxed);
    }

    fn finished(&self, result: &CheckResult) {
        let finished = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        let failed = usize::from(matches!(result.verdict, Verdict::Fail(_)));
        let failed = self.failed.fetch_add(failed, Ordering::Relaxed) + failed;
        if self.json {
            // A closed stdout shows when the run ends.
            let _printed = print_json(result);
        }
        if self.counted {
            let planned = self.planned.load(Ordering::Relaxed);
            let title: String = self.title.chars().take(40).collect();
            eprint!("\r\x1b[K{title}: {finished} of {planned}, {failed} failed");
            let _flushed = io::stderr().flush();
        }
    }
}

/// Prints what is to be said about each program: failures, known failures, checks without a finding; with `verbose` the rest.
pub(super) fn print_findings(reports: &[Report], verbose: bool) -> Result<()> {
    for report in reports {
        for result in &report.results {
            let quiet = matches!(result.verdict, Verdict::Pass | Verdict::NotApplicable { .. });
            if verbose || !quiet {
                text::print(&format!("{} {} ", report.kind, report.transport))?;
                text::print(&result_lines(result))?;
            }
        }
    }
    Ok(())
}
