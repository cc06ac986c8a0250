//! The report as Markdown, for summaries of CI jobs and for documentation.

use std::fmt::Write as _;

use super::escape::cell;
use super::findings::Finding;
use super::results::{Counts, Report};
use crate::verdict::Verdict;

/// A table of all reports, and below it the failures of each.
pub(super) fn render(reports: &[Report]) -> String {
    let mut text = String::from(
        "| subject | version | transport | passed | failed: must | should | implied | may | known | not applicable | inconclusive |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for report in reports {
        let counts = Counts::of(&report.results);
        let Counts { passed, must, should, implied, may, known, not_applicable, inconclusive, .. } = counts;
        let subject = format!("{} {}", report.kind, cell(&report.target));
        let version = cell(report.subject.as_deref().unwrap_or("unknown"));
        let _ = writeln!(
            text,
            "| {subject} | {version} | {} | {passed} | {must} | {should} | {implied} | {may} | {known} | {not_applicable} | {inconclusive} |",
            report.transport
        );
    }
    reports.iter().for_each(|report| section(&mut text, report));
    text
}

/// The section of one report: the reason why nothing was judged, or its failures and the checks that did not apply.
fn section(text: &mut String, report: &Report) {
    let (failures, unclear, remarks) = (report.findings(), report.unclear(), report.remarks());
    let (reasons, unjudged) = (report.reasons(), report.unjudged("Nothing"));
    let is_empty = failures.is_empty() && unclear.is_empty() && remarks.is_empty() && reasons.is_empty();
    if is_empty && unjudged.is_none() {
        return;
    }
    let _ = writeln!(text, "\n### {} over {}: {}", report.kind, report.transport, cell(report.name()));
    if let Some(unjudged) = unjudged {
        let _ = writeln!(text, "\n{}", cell(&unjudged));
        if report.spoken.is_empty() {
            return;
        }
    }
    for remark in remarks {
        let _ = writeln!(text, "\n{}", cell(&remark));
    }
    if !failures.is_empty() {
        text.push_str(
            "\n| requirement | level | quote | revision | expected | seen |\n|---|---|---|---|---|---|\n",
        );
        failures.iter().for_each(|finding| row(text, finding));
    }
    if !unclear.is_empty() {
        text.push_str("\n| inconclusive, because | results |\n|---|---|\n");
        for reason in unclear {
            let _ = writeln!(text, "| {} | {} |", cell(reason.why), reason.count_text());
        }
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

fn row(text: &mut String, finding: &Finding<'_>) {
    let result = finding.result;
    let Verdict::Fail(failure) = &result.verdict else { return };
    let known = if result.known.is_some() { " (known)" } else { "" };
    let _ = writeln!(
        text,
        "| [{}]({}){known} | {} | {} | {} | {} | {} |",
        result.requirement,
        result.url,
        result.level_text(),
        cell(result.quote.as_deref().unwrap_or_default()),
        finding.revisions_text(),
        cell(&failure.expected),
        cell(&failure.seen)
    );
}
