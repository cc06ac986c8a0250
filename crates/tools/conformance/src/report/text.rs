//! The report for a terminal. Text of a subject is escaped.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::conversation::steps;
use super::findings::{Finding, broken};
use super::limit::beginning;
use super::results::{CheckResult, Counts, Report};
use crate::requirements::requirement::Level;
use crate::verdict::Verdict;

/// How many characters of a step a terminal shows.
const MAX_STEP: usize = 400;

/// A result as lines: one for a pass, more where something is to be said.
pub fn result_lines(result: &CheckResult) -> String {
    let CheckResult { revision, requirement, transport, time, .. } = result;
    let head =
        format!("{} {requirement} ({}) in {revision} over {transport}", word(result), result.level_text());
    lines(&format!("{head}, {} ms", time.as_millis()), result)
}

/// A finding as lines: the requirement and its revisions, what was expected and seen, and the bytes of the newest revision.
pub fn finding_lines(finding: &Finding<'_>) -> String {
    let Finding { kind, result, .. } = finding;
    let place = format!("{kind} over {}", result.transport);
    let requirement = &result.requirement;
    let head = format!("{} {requirement} ({}): {place}", word(result), result.level_text());
    lines(&format!("{head} in {}", finding.revisions_text()), result)
}

/// A first line, and below it what is to be said about a result.
fn lines(head: &str, result: &CheckResult) -> String {
    let mut text = head.to_owned();
    let failure = match &result.verdict {
        Verdict::Pass => return text + "\n",
        Verdict::NotApplicable { why, .. } | Verdict::Inconclusive { why } => {
            let _ = writeln!(text, ": {}", beginning(why));
            return text;
        }
        Verdict::Fail(failure) => failure,
    };
    let _ = writeln!(text, "\n    {}", result.text);
    let _ = writeln!(text, "    expected: {}", beginning(&failure.expected));
    let _ = writeln!(text, "    seen:     {}", beginning(&failure.seen));
    if let Some(quote) = &result.quote {
        let _ = writeln!(text, "    quote:    “{quote}”");
    }
    let _ = writeln!(text, "    page:     {}", result.url);
    if let Some(reason) = &result.known {
        let _ = writeln!(text, "    known:    {}", beginning(reason));
    }
    for step in steps(result) {
        // A mark begins each further line, so that none can be read as a command of a build service's log.
        let indented = short(&step.text).replace('\n', "\n                  | ");
        let shown = [step.kind, &indented].join(" ");
        let _ = writeln!(text, "    {:>7} ms {} {}", step.at, step.arrow, shown.trim_start());
    }
    text
}

/// The beginning of a step. The reports in files have more of it.
fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_STEP) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// The checks that found nothing out, a line for each cause.
pub fn unclear_lines(report: &Report) -> String {
    let mut text = String::new();
    for reason in report.unclear() {
        let (kind, transport) = (report.kind, report.transport);
        let _ = writeln!(
            text,
            "unclear: {kind} over {transport}: {}: {}",
            reason.count_text(),
            beginning(reason.why)
        );
    }
    text
}

/// The broken requirements by level, a line for each level. Levels below `level` have a note that they do not fail the run.
pub fn broken_requirements(reports: &[Report], level: Level) -> String {
    let protocols: BTreeSet<_> = reports.iter().map(|report| report.kind.protocol()).collect();
    let mut text = String::new();
    for ((Reverse(of_level), implied), requirements) in broken(reports) {
        let names = requirements.iter().map(|(name, revisions)| {
            // Where one protocol is judged, its name is left out.
            let short = name.split_once('/').map_or(*name, |(_, id)| id);
            let name = if protocols.len() > 1 { name } else { short };
            match revisions.len() {
                1 => name.to_owned(),
                count => format!("{name} ({count} revisions)"),
            }
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let passes = if of_level < level {
            format!(" (--level {level}: these do not fail the run)")
        } else {
            String::new()
        };
        let of_level = if implied { "implied".to_owned() } else { of_level.to_string() };
        let _ = writeln!(text, "{of_level}: {names}{passes}");
    }
    text
}

/// The line that ends a report.
pub fn sums(reports: &[Report]) -> String {
    let counts = Counts::of(reports.iter().flat_map(|report| &report.results));
    let Counts { passed, known, not_applicable, inconclusive, .. } = counts;
    let failed = counts.failed_text();
    let s = if known == 1 { "" } else { "s" };
    format!(
        "{passed} passed, {failed}, {known} known failure{s}, {not_applicable} not applicable, {inconclusive} inconclusive"
    )
}

/// The verdict in a word.
fn word(result: &CheckResult) -> &'static str {
    match (&result.verdict, &result.known) {
        (Verdict::Pass, _) => "pass",
        (Verdict::Fail(_), Some(_)) => "known",
        (Verdict::Fail(_), None) => "FAIL",
        (Verdict::NotApplicable { .. }, _) => "n/a",
        (Verdict::Inconclusive { .. }, _) => "unclear",
    }
}
