//! The outcome, for people, for programs and for CI systems.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

use super::judge::{Judged, Scenario, Verdict};

/// A line for each scenario, and what is to be said of it.
pub(super) fn print(judged: &Judged) {
    println!("{} ({:.1} s)", judged.run, judged.seconds);
    for scenario in &judged.scenarios {
        let word = match scenario.verdict {
            Verdict::Passed => "ok  ",
            Verdict::Failed => "FAIL",
            Verdict::Skipped => "skip",
        };
        let unscored =
            scenario.unscored.as_deref().map(|why| format!(", unscored: {why}")).unwrap_or_default();
        println!("  {word}  {} ({} checks{unscored})", scenario.name, scenario.checks);
        if scenario.verdict == Verdict::Failed {
            scenario.faults.iter().for_each(|fault| println!("          {}", fault.replace('\n', " ")));
        }
        scenario.reasons.iter().for_each(|reason| println!("          {reason}"));
    }
}

/// Prints how many passed, those that are required and the others apart; gives how many failed.
pub(super) fn sums(judged: &[Judged]) -> usize {
    for (title, unscored) in [("scored", false), ("unscored", true)] {
        let [passed, failed, skipped] = count(judged, |scenario| scenario.unscored.is_some() == unscored);
        println!("{title}: {passed} passed, {failed} failed, {skipped} skipped");
    }
    let [passed, failed, skipped] = count(judged, |_| true);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    failed
}

fn count(judged: &[Judged], of: impl Fn(&Scenario) -> bool) -> [usize; 3] {
    let scenarios = || judged.iter().flat_map(|judged| &judged.scenarios).filter(|scenario| of(scenario));
    [Verdict::Passed, Verdict::Failed, Verdict::Skipped]
        .map(|verdict| scenarios().filter(|scenario| scenario.verdict == verdict).count())
}

pub(super) fn json(judged: &[Judged]) -> Result<String> {
    let scenario = |scenario: &Scenario| -> Value {
        let verdict = match scenario.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Skipped => "skipped",
        };
        json!({
            "scenario": scenario.name,
            "verdict": verdict,
            "scored": scenario.unscored.is_none(),
            "checks": scenario.checks,
            "faults": scenario.faults,
            "reasons": scenario.reasons,
        })
    };
    let run = |judged: &Judged| -> Value {
        let scenarios: Vec<Value> = judged.scenarios.iter().map(scenario).collect();
        json!({ "run": judged.run, "seconds": judged.seconds, "scenarios": scenarios })
    };
    let [passed, failed, skipped] = count(judged, |_| true);
    let runs: Vec<Value> = judged.iter().map(run).collect();
    let all = json!({ "passed": passed, "failed": failed, "skipped": skipped, "runs": runs });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

pub(super) fn junit(judged: &[Judged]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for judged in judged {
        let [passed, failed, skipped] = count(std::slice::from_ref(judged), |_| true);
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\" time=\"{:.1}\">",
            escape(&judged.run),
            passed + failed + skipped,
            judged.seconds
        );
        for scenario in &judged.scenarios {
            let (run, name) = (escape(&judged.run), escape(&scenario.name));
            let _ = write!(xml, "    <testcase classname=\"{run}\" name=\"{name}\">");
            let _ = match scenario.verdict {
                Verdict::Passed => Ok(()),
                Verdict::Failed => write!(xml, "<failure>{}</failure>", escape(&scenario.faults.join("\n"))),
                Verdict::Skipped => {
                    write!(xml, "<skipped message=\"{}\"/>", escape(&scenario.reasons.join("; ")))
                }
            };
            xml.push_str("</testcase>\n");
        }
        xml.push_str("  </testsuite>\n");
    }
    xml + "</testsuites>\n"
}

/// Text that XML takes, also within quotation marks. Control characters, for which it has no form, are left out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push('\n'),
            control if control.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}
