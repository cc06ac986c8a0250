//! The report as Markdown, for summaries of CI jobs and for documentation.

use std::fmt::Write as _;

use agentwire_jsonrpc::Printable;

use super::results::{CheckResult, Counts, Report};
use crate::verdict::Verdict;

/// How many characters of a subject's text a cell shows.
const MAX_CELL: usize = 300;

/// A table of all reports, and below it the failures of each.
pub(super) fn render(reports: &[Report]) -> String {
    let mut text = String::from(
        "| subject | version | transport | passed | failed | known | not applicable | inconclusive |\n\
         |---|---|---|--:|--:|--:|--:|--:|\n",
    );
    for report in reports {
        let Counts { passed, failed, known, not_applicable, inconclusive } = Counts::of(&report.results);
        let subject = format!("{} {}", report.kind, cell(&report.target));
        let version = cell(report.subject.as_deref().unwrap_or("unknown"));
        let _ = writeln!(
            text,
            "| {subject} | {version} | {} | {passed} | {failed} | {known} | {not_applicable} | {inconclusive} |",
            report.transport
        );
    }
    for report in reports {
        let failures: Vec<&CheckResult> =
            report.results.iter().filter(|result| matches!(result.verdict, Verdict::Fail(_))).collect();
        if failures.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n### {}\n", cell(&report.title()));
        text.push_str("| requirement | level | revision | expected | seen |\n|---|---|---|---|---|\n");
        for result in failures {
            let Verdict::Fail(failure) = &result.verdict else { continue };
            let known = if result.known.is_some() { " (known)" } else { "" };
            let _ = writeln!(
                text,
                "| [{}]({}){known} | {} | {} | {} | {} |",
                result.requirement,
                result.url,
                result.level_text(),
                result.revision,
                cell(&failure.expected),
                cell(&failure.seen)
            );
        }
    }
    text
}

/// Text within a cell of a table: one line, no markup of the subject's choice, and not too long.
fn cell(text: &str) -> String {
    let shown = Printable::one_line(text).to_string();
    let mut escaped = String::new();
    for character in shown.chars().take(MAX_CELL) {
        match character {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '*' | '_' | '[' | ']' | '>' | '#' | '\\' | '`' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
    }
    if shown.chars().count() > MAX_CELL {
        escaped.push('…');
    }
    escaped
}
