//! One table with the results of both suites.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// A program, or a run of the official suite, and how many of its results have each verdict.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) suite: &'static str,
    pub(super) passed: usize,
    pub(super) failed: usize,
    /// Not applicable in our suite, and skipped in the official one.
    pub(super) left_out: usize,
    /// The requirements of which a check found nothing out.
    pub(super) unclear: Vec<String>,
    /// Why the program did not pass, if it did not.
    pub(super) problem: Option<String>,
}

impl Row {
    /// The row of a JSON report of `agentwire check`, which may be of several programs.
    pub(super) fn read(name: &str, report: &Path) -> Result<Self> {
        let text = fs::read_to_string(report).with_context(|| report.display().to_string())?;
        let report: Value = serde_json::from_str(&text)?;
        let (mut passed, mut failed, mut left_out, mut unclear) = (0, 0, 0, Vec::new());
        let reports = report["reports"].as_array().into_iter().flatten();
        for result in reports.flat_map(|report| report["results"].as_array().into_iter().flatten()) {
            match result["verdict"].as_str() {
                Some("pass") => passed += 1,
                Some("fail") => failed += 1,
                Some("not-applicable") => left_out += 1,
                Some("inconclusive") => {
                    let [requirement, revision, why] = ["requirement", "revision", "why"]
                        .map(|member| result[member].as_str().unwrap_or("?"));
                    unclear.push(format!("{requirement} in {revision}: {why}"));
                }
                other => bail!("a result with the verdict {other:?}"),
            }
        }
        Ok(Self { name: name.to_owned(), suite: "ours", passed, failed, left_out, unclear, problem: None })
    }
}

/// Prints a table of all rows, and after it what did not pass.
pub(super) fn finish(rows: &[Row]) -> Result<()> {
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
    println!("\n{:width$}  suite     passed  failed  left out  inconclusive", "program");
    for Row { name, suite, passed, failed, left_out, unclear, .. } in rows {
        println!("{name:width$}  {suite:8}  {passed:6}  {failed:6}  {left_out:8}  {:12}", unclear.len());
    }
    expect_passed(rows)
}

/// Fails with what did not pass.
pub(super) fn expect_passed(rows: &[Row]) -> Result<()> {
    let problems = rows.iter().flat_map(|row| {
        row.problem.iter().chain(&row.unclear).map(move |problem| format!("{}: {problem}", row.name))
    });
    let problems: Vec<String> = problems.collect();
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_without_a_finding_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let report = |results: &str| format!(r#"{{"reports":[{{"results":[{results}]}}]}}"#);
        fs::write(&path, report(r#"{"verdict":"pass"},{"verdict":"not-applicable"}"#)).unwrap();
        let row = Row::read("x", &path).unwrap();
        assert_eq!((row.passed, row.left_out, row.unclear.len()), (1, 1, 0));
        finish(&[row]).unwrap();
        let unclear =
            r#"{"verdict":"inconclusive","requirement":"mcp/X-1","revision":"2025-11-25","why":"no port"}"#;
        fs::write(&path, report(unclear)).unwrap();
        let row = Row::read("x", &path).unwrap();
        assert_eq!(row.unclear, ["mcp/X-1 in 2025-11-25: no port"]);
        assert!(finish(&[row]).is_err());
        fs::write(&path, report(r#"{"verdict":"lost"}"#)).unwrap();
        assert!(Row::read("x", &path).is_err());
    }
}
