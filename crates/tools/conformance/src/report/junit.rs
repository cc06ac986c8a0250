//! The report as JUnit's XML, which CI systems read.

use std::fmt::Write as _;

use super::conversation::steps;
use super::escape::escape;
use super::results::{CheckResult, Counts, Report};
use crate::verdict::Verdict;

/// One test suite for each report, one test case for each result.
pub(super) fn render(reports: &[Report]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for report in reports {
        let counts = Counts::of(&report.results);
        let seconds: f64 = report.results.iter().map(|result| result.time.as_secs_f64()).sum();
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\">",
            escape(&std::iter::once(report.title()).chain(report.remarks()).collect::<Vec<_>>().join("; ")),
            report.results.len(),
            counts.failed,
            report.results.len() - counts.passed - counts.failed,
        );
        report.results.iter().for_each(|result| case(&mut xml, report, result));
        xml.push_str("  </testsuite>\n");
    }
    xml + "</testsuites>\n"
}

fn case(xml: &mut String, report: &Report, result: &CheckResult) {
    let class = format!("{}.{}.{}", report.kind, result.transport, result.revision);
    let _ = write!(
        xml,
        "    <testcase classname=\"{}\" name=\"{} {}\" time=\"{:.3}\">",
        escape(&class),
        result.requirement,
        escape(&result.check),
        result.time.as_secs_f64()
    );
    let _ = match (&result.verdict, &result.known) {
        (Verdict::Pass, _) => Ok(()),
        (Verdict::Fail(failure), None) => write!(
            xml,
            "<failure type=\"{}\" message=\"{}\">{}</failure>",
            result.level_text(),
            escape(&format!("expected {}; seen {}", failure.expected, failure.seen)),
            escape(&body(result))
        ),
        (Verdict::Fail(_), Some(reason)) => {
            write!(xml, "<skipped message=\"known failure: {}\"/>", escape(reason))
        }
        (Verdict::NotApplicable { why, .. }, _) => {
            write!(xml, "<skipped message=\"not applicable: {}\"/>", escape(why))
        }
        (Verdict::Inconclusive { why }, _) => {
            write!(xml, "<skipped message=\"inconclusive: {}\"/>", escape(why))
        }
    };
    xml.push_str("</testcase>\n");
}

/// The requirement, its page and the conversation.
fn body(result: &CheckResult) -> String {
    let quote = result.quote.as_ref().map(|quote| format!("“{quote}”\n")).unwrap_or_default();
    let mut text = format!("{}\n{quote}{}\n", result.text, result.url);
    for step in steps(result) {
        let _ = writeln!(text, "{} ms {} {} {}", step.at, step.arrow, step.kind, step.text);
    }
    text
}
