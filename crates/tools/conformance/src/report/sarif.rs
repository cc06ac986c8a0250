//! The report in SARIF 2.1.0, which code hosts show beside the code.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::escape::without_links;
use super::results::{CheckResult, Report};
use crate::requirements::requirement::Level;
use crate::verdict::Verdict;

/// One run; a rule for each requirement that was judged, a result for each failure and each check without a finding.
pub(super) fn render(reports: &[Report]) -> Value {
    let results =
        || reports.iter().flat_map(|report| report.results.iter().map(move |result| (report, result)));
    let rules: BTreeMap<&str, Value> =
        results().map(|(_, result)| (result.requirement.as_str(), rule(result))).collect();
    let found: Vec<Value> = results().filter_map(|(report, result)| finding(report, result)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "agentwire-conformance",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.into_values().collect::<Vec<_>>(),
            }},
            "invocations": [{"executionSuccessful": reports.iter().all(|report| !report.partial)}],
            "results": found,
        }],
    })
}

fn rule(result: &CheckResult) -> Value {
    let quote = result.quote.as_ref().map(|quote| format!(" “{quote}”")).unwrap_or_default();
    json!({
        "id": result.requirement,
        "name": result.check,
        "shortDescription": {"text": result.text},
        "fullDescription": {"text": format!("{}{quote}", result.text)},
        "helpUri": result.url,
        "defaultConfiguration": {"level": level(result)},
    })
}

fn finding(report: &Report, result: &CheckResult) -> Option<Value> {
    let (kind, level, text) = match &result.verdict {
        Verdict::Pass | Verdict::NotApplicable { .. } => return None,
        Verdict::Fail(failure) => {
            ("fail", level(result), format!("expected {}; seen {}", failure.expected, failure.seen))
        }
        Verdict::Inconclusive { why } => ("review", "none", why.clone()),
    };
    let place = format!("{} over {} in {}", report.kind, result.transport, result.revision);
    let mut found = json!({
        "ruleId": result.requirement,
        "kind": kind,
        "level": level,
        "message": {"text": without_links(&format!("{place}: {text}"))},
        "locations": [{
            "logicalLocations": [{"fullyQualifiedName": format!("{place}: {}", result.requirement)}],
        }],
    });
    if let Some(file) = &report.file {
        found["locations"][0]["physicalLocation"] = json!({"artifactLocation": {"uri": file}});
    }
    if let Some(reason) = &result.known {
        found["suppressions"] = json!([{"kind": "external", "justification": without_links(reason)}]);
    }
    Some(found)
}

fn level(result: &CheckResult) -> &'static str {
    match result.level {
        Level::Must => "error",
        Level::Should if !result.implied => "warning",
        Level::Should | Level::May => "note",
    }
}
