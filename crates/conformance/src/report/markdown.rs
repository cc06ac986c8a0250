//! The report as Markdown, for summaries of CI jobs and for documentation.

use std::fmt::Write as _;

use super::{CheckResult, Counts, Report};
use crate::verdict::Verdict;

/// A table of all reports, and below it the failures of each.
pub(super) fn render(reports: &[Report]) -> String {
    let mut text = String::from(
        "| subject | version | transport | passed | failed | known | not applicable | inconclusive |\n\
         |---|---|---|--:|--:|--:|--:|--:|\n",
    );
    for report in reports {
        let Counts { passed, failed, known, not_applicable, inconclusive } = Counts::of(&report.results);
        let subject = cell(&format!("{} `{}`", report.kind, report.target.replace('`', "'")));
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
    let mut escaped = String::new();
    for character in text.chars().take(300) {
        match character {
            '|' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '\\' => {
                escaped.push('\\');
                escaped.push(character);
            }
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    if text.chars().count() > 300 {
        escaped.push('…');
    }
    escaped
}
