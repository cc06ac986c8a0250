//! The report as one page of HTML that needs nothing else: no script, no font, no request.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::conversation::steps;
use super::escape::escape;
use super::findings::Finding;
use super::limit::beginning;
use super::reasons::Reason;
use super::results::{CheckResult, Counts, Report};
use crate::requirements::requirement::Level;
use crate::verdict::Verdict;

const STYLE: &str = include_str!("page.css");

/// The name of a verdict on the page, and the class of its colour.
const LEGEND: &[(&str, &str)] = &[
    ("pass", "passed"),
    ("fail", "failed: must"),
    ("should", "failed: should"),
    ("implied", "failed: implied or may"),
    ("known", "known failure"),
    ("na", "not applicable"),
    ("unclear", "inconclusive"),
];

/// The counts in the order of [`LEGEND`].
fn by_class(counts: &Counts) -> [usize; 7] {
    let Counts { passed, must, should, implied, may, known, not_applicable, inconclusive, .. } = *counts;
    [passed, must, should, implied + may, known, not_applicable, inconclusive]
}

/// The whole page.
pub(super) fn render(reports: &[Report]) -> String {
    let counts = Counts::of(reports.iter().flat_map(|report| &report.results));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Conformance</title>\
         <style>\n{STYLE}</style></head>\n<body><main>\n<h1>Conformance</h1>\n\
         <p class=\"lead\">What each program does of what ACP and MCP demand. Each square is one requirement in one revision.</p>\n"
    );
    page.push_str("<div class=\"cards\">");
    for ((_, label), count) in LEGEND.iter().zip(by_class(&counts)) {
        let _ = write!(page, "<div class=\"card\"><b>{count}</b><span>{label}</span></div>");
    }
    page.push_str("</div>\n<p class=\"legend\">");
    for (class, label) in LEGEND {
        let _ = write!(page, "<span><i class=\"dot {class}\"></i>{label}</span>");
    }
    page.push_str("</p>\n");
    reports.iter().for_each(|report| section(&mut page, report));
    page + "</main></body></html>\n"
}

fn section(page: &mut String, report: &Report) {
    let _ = write!(
        page,
        "<section><div class=\"head\"><h2>{} over {}</h2><span>{}</span><code>{}</code></div>",
        report.kind,
        report.transport,
        escape(report.subject.as_deref().unwrap_or("a program without a name")),
        escape(&report.target)
    );
    if let Some(unjudged) = report.unjudged("Nothing") {
        let _ = write!(page, "<p class=\"unjudged\">{}</p>", escape(&unjudged));
    }
    for remark in report.remarks() {
        let _ = write!(page, "<p class=\"unjudged\">{}</p>", escape(&remark));
    }
    bar(page, report);
    let mut areas: BTreeMap<&str, Vec<&CheckResult>> = BTreeMap::new();
    for result in &report.results {
        areas.entry(&result.area).or_default().push(result);
    }
    for (area, results) in areas {
        let _ = write!(page, "<div class=\"area\"><span>{}</span><div class=\"dots\">", escape(area));
        for result in results {
            let title = format!("{} {}: {}", result.requirement, result.revision, result.text);
            let _ = write!(page, "<i class=\"dot {}\" title=\"{}\"></i>", class(result), escape(&title));
        }
        page.push_str("</div></div>\n");
    }
    report.findings().iter().for_each(|found| finding(page, found));
    report.unclear().iter().for_each(|reason| unclear(page, reason));
    absences(page, report);
    page.push_str("</section>\n");
}

/// Why checks did not apply, and which roles of a profile would change that.
fn absences(page: &mut String, report: &Report) {
    let reasons = report.reasons();
    if reasons.is_empty() {
        return;
    }
    let sum: usize = reasons.iter().map(|(_, count)| count).sum();
    let _ = write!(
        page,
        "<details><summary><span class=\"tag na\">not applicable</span><b>{sum}</b><span>and why</span></summary><dl>"
    );
    for (why, count) in reasons {
        let _ = write!(page, "<dt>{count}</dt><dd>{}</dd>", escape(why));
    }
    page.push_str("</dl></details>\n");
    if let Some(roles) = report.missing_roles_text(|role| format!("<code>{}</code>", escape(role))) {
        let _ = writeln!(
            page,
            "<p class=\"roles\">Roles of the profile that would enable more checks: {roles}</p>"
        );
    }
}

fn bar(page: &mut String, report: &Report) {
    page.push_str("<div class=\"bar\">");
    for ((class, _), count) in LEGEND.iter().zip(by_class(&Counts::of(&report.results))) {
        let _ = write!(page, "<i class=\"{class}\" style=\"flex:{count}\"></i>");
    }
    page.push_str("</div>\n");
}

fn finding(page: &mut String, finding: &Finding<'_>) {
    let result = finding.result;
    let label = LEGEND.iter().find(|(name, _)| *name == class(result)).map_or("", |(_, label)| label);
    let _ = write!(
        page,
        "<details><summary><span class=\"tag {}\">{label}</span><b>{}</b><span class=\"level\">{}, {}</span><span>{}</span></summary><dl>",
        class(result),
        result.requirement,
        result.level_text(),
        finding.revisions_text(),
        escape(&result.text)
    );
    let mut row = |name: &str, value: &str| {
        let _ = write!(page, "<dt>{name}</dt><dd>{}</dd>", escape(value));
    };
    if let Some(quote) = &result.quote {
        row("quote", &format!("“{quote}”"));
    }
    if let Verdict::Fail(failure) = &result.verdict {
        row("expected", &failure.expected);
        row("seen", &failure.seen);
    }
    if let Some(reason) = &result.known {
        row("known", reason);
    }
    let url = escape(&result.url);
    let _ = write!(page, "<dt>page</dt><dd><a href=\"{url}\" rel=\"noreferrer\">{url}</a></dd></dl>");
    conversation(page, result);
    page.push_str("</details>\n");
}

/// A cause for which checks found nothing out, with the conversation of one of them.
fn unclear(page: &mut String, reason: &Reason<'_>) {
    let _ = write!(
        page,
        "<details><summary><span class=\"tag unclear\">inconclusive</span><b>{}</b><span>{}</span></summary>",
        escape(&reason.count_text()),
        escape(&beginning(reason.why))
    );
    if let Some(result) = reason.results.last() {
        conversation(page, result);
    }
    page.push_str("</details>\n");
}

fn conversation(page: &mut String, result: &CheckResult) {
    let steps = steps(result);
    if steps.is_empty() {
        return;
    }
    page.push_str("<pre>");
    for step in steps {
        let class = if step.arrow == "→" { " class=\"out\"" } else { "" };
        let text = escape(&step.text);
        let _ = writeln!(page, "<span{class}>{:>7} ms {} {} {text}</span>", step.at, step.arrow, step.kind);
    }
    page.push_str("</pre>");
}

fn class(result: &CheckResult) -> &'static str {
    match (&result.verdict, &result.known) {
        (Verdict::Pass, _) => "pass",
        (Verdict::Fail(_), None) if result.level == Level::Must => "fail",
        (Verdict::Fail(_), None) if result.level == Level::Should && !result.implied => "should",
        (Verdict::Fail(_), None) => "implied",
        (Verdict::Fail(_), Some(_)) => "known",
        (Verdict::NotApplicable { .. }, _) => "na",
        (Verdict::Inconclusive { .. }, _) => "unclear",
    }
}
