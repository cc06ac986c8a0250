//! The verdicts as text, as JSON and as JUnit's XML.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

use super::super::table::Row;
use super::judge::{Scenario, Verdict, Verdicts};

/// Prints a line for each scenario, with its faults and reasons.
pub(super) fn print(verdicts: &Verdicts) {
    println!("{} ({:.1} s)", verdicts.run, verdicts.seconds);
    for scenario in &verdicts.scenarios {
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

/// The row of a run in the table of both suites.
pub(super) fn row(verdicts: &Verdicts) -> Row {
    let [passed, failed, left_out] = count(std::slice::from_ref(verdicts), |_| true);
    let problem = (failed > 0).then(|| format!("{failed} scenarios failed"));
    let name = verdicts.run.clone();
    Row { name, suite: "official", passed, failed, left_out, unclear: Vec::new(), problem }
}

/// Prints the sums, those of required scenarios apart.
pub(super) fn print_sums(all: &[Verdicts]) {
    for (title, unscored) in [("scored", false), ("unscored", true)] {
        let [passed, failed, skipped] = count(all, |scenario| scenario.unscored.is_some() == unscored);
        println!("{title}: {passed} passed, {failed} failed, {skipped} skipped");
    }
    let [passed, failed, skipped] = count(all, |_| true);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
}

fn count(all: &[Verdicts], of: impl Fn(&Scenario) -> bool) -> [usize; 3] {
    let scenarios = || all.iter().flat_map(|verdicts| &verdicts.scenarios).filter(|scenario| of(scenario));
    [Verdict::Passed, Verdict::Failed, Verdict::Skipped]
        .map(|verdict| scenarios().filter(|scenario| scenario.verdict == verdict).count())
}

pub(super) fn json(all: &[Verdicts]) -> Result<String> {
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
    let run = |verdicts: &Verdicts| -> Value {
        let scenarios: Vec<Value> = verdicts.scenarios.iter().map(scenario).collect();
        json!({ "run": verdicts.run, "seconds": verdicts.seconds, "scenarios": scenarios })
    };
    let [passed, failed, skipped] = count(all, |_| true);
    let runs: Vec<Value> = all.iter().map(run).collect();
    let document = json!({ "passed": passed, "failed": failed, "skipped": skipped, "runs": runs });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

pub(super) fn junit(all: &[Verdicts]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for verdicts in all {
        let [passed, failed, skipped] = count(std::slice::from_ref(verdicts), |_| true);
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\" time=\"{:.1}\">",
            escape(&verdicts.run),
            passed + failed + skipped,
            verdicts.seconds
        );
        for scenario in &verdicts.scenarios {
            let (run, name) = (escape(&verdicts.run), escape(&scenario.name));
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

/// Text escaped for XML, also within quotation marks. Control characters have no form in XML and are left out.
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
