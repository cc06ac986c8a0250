//! The page with the results of all programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::program::Program;

/// The messages by which a program breaks a *must*. The headings name the requirements.
const BYTES: &str = include_str!("bytes.md");

/// A program's line in the page.
pub(super) struct Row {
    name: String,
    version: String,
    subject: String,
    transport: String,
    counts: BTreeMap<String, usize>,
    /// The requirements that failed, by column.
    failed: BTreeMap<&'static str, BTreeSet<String>>,
    /// The failures of a small program of ours on a library, with the reason why they say nothing of the library.
    left_out: BTreeMap<String, String>,
}

/// The columns of broken requirements, with the strongest first.
const COLUMNS: [&str; 3] = ["must", "should", "implied"];

impl Row {
    pub(super) fn of(program: &Program, version: String, report: &Value) -> Self {
        let report = &report["reports"][0];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut row = Self {
            name: program.name.clone(),
            version,
            subject: program.subject.clone(),
            transport: program.transport.clone(),
            counts: BTreeMap::new(),
            failed: BTreeMap::new(),
            left_out: BTreeMap::new(),
        };
        for result in report["results"].as_array().into_iter().flatten() {
            let (verdict, requirement) = (text(&result["verdict"]), text(&result["requirement"]));
            let id = requirement.split('/').next_back().unwrap_or_default().to_owned();
            if let Some(reason) = result["known"].as_str() {
                row.left_out.insert(id, reason.to_owned());
                *row.counts.entry("known".to_owned()).or_default() += 1;
                continue;
            }
            *row.counts.entry(verdict.clone()).or_default() += 1;
            if verdict == "fail" {
                let column = match (result["level"].as_str(), &result["implied"]) {
                    (Some("must"), _) => "must",
                    (Some("should"), Value::Bool(false)) => "should",
                    (Some("should"), _) => "implied",
                    _ => continue,
                };
                row.failed.entry(column).or_default().insert(id);
            }
        }
        row
    }

    /// Whether anything was judged.
    pub(super) fn is_judged(&self) -> bool {
        self.count("pass") + self.count("fail") > 0
    }

    fn count(&self, verdict: &str) -> usize {
        self.counts.get(verdict).copied().unwrap_or_default()
    }

    /// The ids of the requirements in a column.
    fn ids(&self, column: &str) -> Vec<&str> {
        self.failed.get(column).into_iter().flatten().map(String::as_str).collect()
    }

    fn failures(&self, column: &str) -> String {
        let ids = self.ids(column);
        if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
    }

    pub(super) fn line(&self) -> String {
        let [passed, failed] = ["pass", "fail"].map(|verdict| self.count(verdict));
        format!(
            "{} over {}: {passed} passed, {failed} failed; must: {}",
            self.name,
            self.transport,
            self.failures("must")
        )
    }
}

/// Fails unless `bytes.md` has an entry for each *must* that is broken, and for no other.
pub(super) fn expect_bytes(rows: &[Row]) -> Result<()> {
    let broken: BTreeSet<&str> = rows.iter().flat_map(|row| row.ids("must")).collect();
    let headings = BYTES.lines().filter(|line| line.starts_with("### "));
    let shown: BTreeSet<&str> = headings.flat_map(|line| line.split('`').skip(1).step_by(2)).collect();
    let [missing, stale] = [broken.difference(&shown), shown.difference(&broken)]
        .map(|ids| ids.copied().collect::<Vec<_>>().join(" "));
    ensure!(missing.is_empty() && stale.is_empty(), "bytes.md: not there: {missing}; not broken: {stale}");
    Ok(())
}

/// Lists the failures of our small programs on libraries.
fn left_out(page: &mut String, rows: &[Row]) {
    page.push_str(
        "\n## Left out of the tables\n\nOur small programs on the libraries break these. The programs decide them and not the libraries.\n\n\
         | program | transport | requirement | why |\n|---|---|---|---|\n",
    );
    for row in rows {
        for (id, why) in &row.left_out {
            let _ = writeln!(page, "| {} as {} | {} | {id} | {why} |", row.name, row.subject, row.transport);
        }
    }
}

/// The page with all results.
pub(super) fn render(rows: &[Row]) -> String {
    let mut page = String::from(include_str!("head.md"));
    for subject in ["acp-agent", "acp-client", "mcp-server", "mcp-client"] {
        let _ = write!(
            page,
            "\n## {subject}\n\n| program | version | transport | passed | failed | not applicable | inconclusive | broken: must | should | implied |\n\
             |---|---|---|--:|--:|--:|--:|---|---|---|\n"
        );
        for row in rows.iter().filter(|row| row.subject == subject) {
            let [passed, failed, not, unclear] =
                ["pass", "fail", "not-applicable", "inconclusive"].map(|verdict| row.count(verdict));
            let _ = writeln!(
                page,
                "| {} | {} | {} | {passed} | {failed} | {not} | {unclear} | {} |",
                row.name,
                row.version,
                row.transport,
                COLUMNS.map(|column| row.failures(column)).join(" | ")
            );
        }
    }
    left_out(&mut page, rows);
    page.push_str(BYTES);
    page
}
