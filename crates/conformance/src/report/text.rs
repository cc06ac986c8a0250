//! The report for a terminal. Text of a subject is escaped.

use std::fmt::Write as _;

use agentwire_jsonrpc::Printable;

use super::conversation::steps;
use super::results::{CheckResult, Counts, Report};
use crate::verdict::Verdict;

/// A result as lines: one for a pass, more where something is to be said.
pub fn result_lines(result: &CheckResult) -> String {
    let mut text = format!(
        "{} {} {} ({}, {} ms)",
        word(result),
        result.revision,
        result.requirement,
        result.level_text(),
        result.time.as_millis()
    );
    let one_line = |text: &str| Printable::one_line(text).to_string();
    match &result.verdict {
        Verdict::Pass => text.push('\n'),
        Verdict::NotApplicable { why } | Verdict::Inconclusive { why } => {
            let _ = writeln!(text, ": {}", one_line(why));
        }
        Verdict::Fail(failure) => {
            let _ = writeln!(text, "\n    {}", result.text);
            let _ = writeln!(text, "    expected: {}", one_line(&failure.expected));
            let _ = writeln!(text, "    seen:     {}", one_line(&failure.seen));
            let _ = writeln!(text, "    page:     {}", result.url);
            if let Some(reason) = &result.known {
                let _ = writeln!(text, "    known:    {}", one_line(reason));
            }
            for step in steps(result) {
                let indented = step.text.replace('\n', "\n                    ");
                let _ = writeln!(
                    text,
                    "    {:>7} ms {} {}",
                    step.at,
                    step.arrow,
                    [step.kind, &indented].join(" ").trim_start()
                );
            }
        }
    }
    text
}

/// The line that ends a report.
pub fn sums(reports: &[Report]) -> String {
    let counts = Counts::of(reports.iter().flat_map(|report| &report.results));
    let Counts { passed, failed, known, not_applicable, inconclusive } = counts;
    format!(
        "{passed} passed, {failed} failed, {known} known failures, {not_applicable} not applicable, {inconclusive} inconclusive"
    )
}

/// The verdict in a word.
pub(super) fn word(result: &CheckResult) -> &'static str {
    match (&result.verdict, &result.known) {
        (Verdict::Pass, _) => "pass",
        (Verdict::Fail(_), Some(_)) => "known",
        (Verdict::Fail(_), None) => "FAIL",
        (Verdict::NotApplicable { .. }, _) => "n/a",
        (Verdict::Inconclusive { .. }, _) => "unclear",
    }
}
