//! The report as Markdown, for summaries of CI jobs and for documentation.

use std::fmt::Write as _;

use super::escape::cell;
use super::findings::Finding;
use super::results::{Counts, Report};
use crate::verdict::Verdict;

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
    reports.iter().for_each(|report| section(&mut text, report));
    text
}

/// What is to be said about one report: why nothing was judged, or its failures and what did not apply.
fn section(text: &mut String, report: &Report) {
    let failures: Vec<Finding<'_>> = report.findings().into_iter().filter(is_failure).collect();
    let (reasons, unjudged) = (report.reasons(), report.unjudged("Nothing"));
    if failures.is_empty() && reasons.is_empty() && unjudged.is_none() {
        return;
    }
    let _ = writeln!(text, "\n### {} over {}: {}", report.kind, report.transport, cell(report.name()));
    if let Some(unjudged) = unjudged {
        let _ = writeln!(text, "\n{}", cell(&unjudged));
        if report.spoken.is_empty() {
            return;
        }
    }
    if !failures.is_empty() {
        text.push_str("\n| requirement | level | revision | expected | seen |\n|---|---|---|---|---|\n");
        failures.iter().for_each(|finding| row(text, finding));
    }
    if !reasons.is_empty() {
        text.push_str("\n| not applicable, because | results |\n|---|--:|\n");
        for (why, count) in reasons {
            let _ = writeln!(text, "| {} | {count} |", cell(why));
        }
    }
    if let Some(roles) = report.missing_roles_text(|role| format!("`{role}`")) {
        let _ = writeln!(text, "\nRoles of the profile that would enable more checks: {roles}");
    }
}

fn is_failure(finding: &Finding<'_>) -> bool {
    matches!(finding.result.verdict, Verdict::Fail(_))
}

fn row(text: &mut String, finding: &Finding<'_>) {
    let result = finding.result;
    let Verdict::Fail(failure) = &result.verdict else { return };
    let known = if result.known.is_some() { " (known)" } else { "" };
    let _ = writeln!(
        text,
        "| [{}]({}){known} | {} | {} | {} | {} |",
        result.requirement,
        result.url,
        result.level_text(),
        finding.revisions_text(),
        cell(&failure.expected),
        cell(&failure.seen)
    );
}
