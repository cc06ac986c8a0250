//! Prints the results of `check`.

use agentwire_conformance::{
    Level, Report, Verdict, broken_requirements, finding_lines, result_lines, sums, unclear_lines,
};
use anyhow::Result;

use crate::output::text;

/// Prints each program's findings, a list of the broken requirements, and the sums. With `verbose`, first prints the requirements
/// that pass or do not apply.
pub(super) fn print_findings(reports: &[Report], level: Level, verbose: bool) -> Result<()> {
    for report in reports {
        let is_quiet = |verdict: &Verdict| matches!(verdict, Verdict::Pass | Verdict::NotApplicable { .. });
        for result in report.results.iter().filter(|result| verbose && is_quiet(&result.verdict)) {
            text::print_line(&format!("{} {}", report.kind, result_lines(result).trim_end()))?;
        }
        for remark in report.remarks() {
            text::print_line(&remark)?;
        }
        for finding in report.findings() {
            // A blank line ends it.
            text::print(&finding_lines(&finding))?;
        }
        let unclear = unclear_lines(report);
        if !unclear.is_empty() {
            text::print(unclear.trim_end())?;
        }
    }
    let broken = broken_requirements(reports, level);
    if !broken.is_empty() {
        text::print(broken.trim_end())?;
    }
    text::print_line(&sums(reports))?;
    Ok(())
}
