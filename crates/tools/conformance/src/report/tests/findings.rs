//! Findings, the reasons of results that do not apply, and the limits of reports.

use super::*;
use crate::report::escape::{cell, without_links};
use crate::report::limit::MAX_TEXT;
use crate::verdict::{Outcome, Stop};

/// A report of an MCP server over HTTP with these results of these requirements.
fn report_of(spoken: &[Revision], results: &[(&str, Revision, Outcome)]) -> Report {
    let registry = Registry::load().unwrap();
    let result = |(id, revision, outcome): &(&str, Revision, Outcome)| {
        let requirement = registry.get(Protocol::Mcp, id).unwrap();
        let trace = Trace::new();
        trace.add(Sender::Subject, Part::Line, format!("bytes of {id} in {revision}").as_bytes());
        let verdict = outcome.clone().into();
        CheckResult::new(
            requirement,
            id.to_lowercase(),
            *revision,
            Transport::Http,
            verdict,
            &Excerpt::of(&trace),
            Duration::ZERO,
        )
    };
    let mut config = Config::new(SubjectKind::McpServer, Target::Url("http://x/mcp".into()));
    config.transport = Transport::Http;
    let results = results.iter().map(result).collect();
    Report::new(&config, Ran { spoken: spoken.to_vec(), results, ..Ran::default() })
}

const OLD: Revision = Revision::Mcp20250618;
const NEW: Revision = Revision::Mcp20251125;

fn failed(seen: &str) -> Outcome {
    Err(Stop::failed("the id 7", seen))
}

/// The ids of one requirement of each level that holds in both revisions, from the weakest on.
fn ids() -> [String; 3] {
    let registry = Registry::load().unwrap();
    [Level::May, Level::Should, Level::Must].map(|level| {
        let holds = |revision| move |known: &&Requirement| known.holds_in(revision);
        let mut known = registry.all().iter().filter(holds(OLD)).filter(holds(NEW));
        known.find(|known| known.level == level && !known.implied).unwrap().id.clone()
    })
}

fn mixed() -> Report {
    let [may, should, must] = ids();
    report_of(
        &[OLD, NEW],
        &[
            (&may, OLD, failed("`1`")),
            (&should, OLD, failed("`2`")),
            (&must, OLD, failed("`3`")),
            (&must, NEW, failed("`4`")),
            (&should, NEW, Err(Stop::failed("another thing", "`5`"))),
        ],
    )
}

#[test]
fn equal_failures_are_one_finding_and_the_strongest_come_first() {
    let [may, should, must] = ids();
    let report = mixed();
    let found: Vec<(String, Vec<Revision>)> = report
        .findings()
        .into_iter()
        .map(|finding| (finding.result.requirement.clone(), finding.revisions))
        .collect();
    let named = |id: &String| format!("mcp/{id}");
    let expected = [
        (named(&must), vec![OLD, NEW]),
        (named(&should), vec![OLD]),
        (named(&should), vec![NEW]),
        (named(&may), vec![OLD]),
    ];
    assert_eq!(found, expected);
    let lines = finding_lines(&report.findings()[0]);
    assert!(lines.starts_with(&format!("FAIL mcp/{must} (must")), "{lines}");
    assert!(
        lines.lines().next().unwrap().ends_with("mcp-server over http in 2025-06-18, 2025-11-25"),
        "{lines}"
    );
    assert!(lines.contains(&format!("bytes of {must} in 2025-11-25")), "{lines}");
    assert!(!lines.contains(&format!("bytes of {must} in 2025-06-18")), "{lines}");
}

#[test]
fn the_broken_requirements_are_listed_by_level_with_what_does_not_count() {
    let [may, should, must] = ids();
    let list = broken_requirements(&[mixed()], Level::Must);
    let passes = "(--level must: these do not fail the run)";
    assert_eq!(
        list,
        format!("must: {must} (2 revisions)\nshould: {should} (2 revisions) {passes}\nmay: {may} {passes}\n")
    );
    assert!(!broken_requirements(&[mixed()], Level::May).contains("do not fail the run"));
    let passed = report_of(&[NEW], &[(&must, NEW, Ok(()))]);
    assert_eq!(broken_requirements(&[passed], Level::Must), "");
}

#[test]
fn pages_put_the_strongest_failures_first_and_each_once() {
    let [may, should, must] = ids();
    for format in [Format::Html, Format::Markdown] {
        let text = format.render(&[mixed()]);
        let text = text.split_once("expected").unwrap().1;
        let at =
            |id: &str| text.find(&format!("mcp/{id}")).unwrap_or_else(|| panic!("{format:?} lacks {id}"));
        assert!(at(&should) < at(&may), "{format:?}: {text}");
        let revisions = "2025-06-18, 2025-11-25";
        assert_eq!(Format::render(format, &[mixed()]).matches(revisions).count(), 1, "{format:?} of {must}");
    }
}

#[test]
fn pages_say_why_checks_did_not_apply_and_which_roles_would_change_that() {
    let [may, should, must] = ids();
    let report = report_of(
        &[OLD, NEW],
        &[
            (&may, OLD, Err(Stop::not_applicable("the server does not offer tasks"))),
            (&should, OLD, Err(Stop::missing_role("slow"))),
            (&should, NEW, Err(Stop::missing_role("slow"))),
            (&must, NEW, Err(Stop::missing_role("slow"))),
        ],
    );
    assert_eq!(report.missing_roles(), [("slow", 2)]);
    let markdown = Format::Markdown.render(std::slice::from_ref(&report));
    assert!(markdown.contains("| the server does not offer tasks | 1 |"), "{markdown}");
    assert!(markdown.contains("| `` the profile has no `slow` `` | 3 |"), "{markdown}");
    assert!(
        markdown.contains("Roles of the profile that would enable more checks: `slow` (2)"),
        "{markdown}"
    );
    let html = Format::Html.render(std::slice::from_ref(&report));
    assert!(html.contains("<dt>3</dt><dd>the profile has no `slow`</dd>"), "{html}");
    assert!(html.contains("would enable more checks: <code>slow</code> (2)"), "{html}");
    let json: Value = serde_json::from_str(&Format::Json.render(&[report])).unwrap();
    assert_eq!(json.pointer("/reports/0/results/1/role"), Some(&"slow".into()));
    assert_eq!(json.pointer("/reports/0/results/0/role"), None);
}

#[test]
fn checks_without_a_finding_are_one_line_for_each_cause() {
    let [may, should, must] = ids();
    let silent = || Err(Stop::inconclusive("it does not start"));
    let other = Err(Stop::inconclusive("no port"));
    let results =
        [(&*may, OLD, other), (&*should, OLD, silent()), (&*should, NEW, silent()), (&*must, NEW, silent())];
    let report = report_of(&[OLD, NEW], &results);
    let mut names = [format!("mcp/{should}"), format!("mcp/{must}")];
    names.sort();
    let expected = format!(
        "unclear: mcp-server over http: 3 results ({}): it does not start\n\
         unclear: mcp-server over http: 1 result (mcp/{may}): no port\n",
        names.join(", ")
    );
    assert_eq!(unclear_lines(&report), expected);
    for format in [Format::Html, Format::Markdown] {
        let text = format.render(std::slice::from_ref(&report));
        assert_eq!(text.matches("it does not start").count(), 1, "{format:?}: {text}");
    }
    assert!(report.findings().is_empty());
}

#[test]
fn sums_name_the_levels_of_failures() {
    let mut report = mixed();
    assert_eq!(
        sums(std::slice::from_ref(&report)),
        "0 passed, 5 failed (2 must, 2 should, 1 may), 0 known failures, 0 not applicable, 0 inconclusive"
    );
    report.results[0].known = Some("old".into());
    assert!(sums(&[report]).contains("(2 must, 2 should), 1 known failure, "));
}

#[test]
fn a_stopped_run_and_early_ends_are_told_before_the_findings() {
    let mut report = mixed();
    (report.partial, report.planned) = (true, 9);
    let last_words = Some("locked\u{1b}".to_owned());
    report.early_ends = Some(crate::EarlyEnds { conversations: 104, ended: 51, last_words });
    let expected = [
        "Partial: the run was stopped after 5 of 9 results.",
        "The program ended by itself in 51 of 104 conversations; its last words: locked^[",
    ];
    assert_eq!(report.remarks(), expected);
    for format in [Format::Html, Format::Markdown, Format::Junit] {
        let text = format.render(std::slice::from_ref(&report));
        assert!(text.contains("51 of 104 conversations"), "{format:?}: {text}");
        assert!(text.contains("stopped after 5 of 9 results"), "{format:?}: {text}");
    }
    let sarif: Value = serde_json::from_str(&Format::Sarif.render(&[report])).unwrap();
    assert_eq!(sarif.pointer("/runs/0/invocations/0/executionSuccessful"), Some(&false.into()));
}

#[test]
fn a_baseline_of_a_report_makes_its_failures_known() {
    let mut reports = [mixed()];
    let [may, ..] = ids();
    let old = format!("[[known]]\nrequirement = \"mcp/{may}\"\nreason = \"ours\"\n");
    let flaky = "[[known]]\nrequirement = \"mcp/CAN-07\"\nflaky = true\nreason = \"at random\"\n";
    let written = Baseline::parse(&(old.clone() + flaky)).unwrap().updated(&reports);
    assert!(written.starts_with(&format!("{old}\n{flaky}")), "{written}");
    let baseline = Baseline::parse(&written).unwrap();
    assert_eq!(baseline.apply(&mut reports), [""; 0]);
    assert_eq!(reports[0].failures(Level::May).count(), 0, "{written}");
    // Once more, nothing is new.
    assert_eq!(baseline.updated(&[mixed()]), written);
}

#[test]
fn a_run_without_a_judgement_begins_with_the_reason() {
    let [_, _, must] = ids();
    let report = report_of(&[], &[(&must, NEW, Err(Stop::inconclusive("it does not start")))]);
    for format in [Format::Html, Format::Markdown] {
        let text = format.render(std::slice::from_ref(&report));
        assert!(text.contains("Nothing could be judged: it does not start"), "{format:?}: {text}");
    }
}

#[test]
fn reports_keep_the_beginning_of_what_is_long() {
    let [_, _, must] = ids();
    let long = "é".repeat(1 << 20);
    let registry = Registry::load().unwrap();
    let trace = Trace::new();
    for _ in 0..100 {
        trace.add(Sender::Subject, Part::Line, &long.as_bytes()[..10_000]);
    }
    let requirement = registry.get(Protocol::Mcp, &must).unwrap();
    let verdict = Verdict::from(failed(&long));
    let result = CheckResult::new(
        requirement,
        "check".to_owned(),
        NEW,
        Transport::Http,
        verdict,
        &Excerpt::of(&trace),
        Duration::ZERO,
    );
    assert!(result.trace.iter().all(|event| event.bytes.len() <= MAX_TEXT && event.cut > 0));
    let config = Config::new(SubjectKind::McpServer, Target::Url("http://x/mcp".into()));
    let report = Report::new(&config, Ran { spoken: vec![NEW], results: vec![result], ..Ran::default() });
    let lines = finding_lines(&report.findings()[0]);
    assert!(lines.len() < 100_000 && lines.contains("(40 steps left out)"), "{}", lines.len());
    let (page, rest) = (Format::Html.render(std::slice::from_ref(&report)), (2 << 20) - MAX_TEXT);
    assert!(page.contains("(5904 bytes more)") && page.contains(&format!("({rest} bytes more)")));
    for format in [Format::Json, Format::Junit, Format::Sarif, Format::Markdown, Format::Html] {
        let text = format.render(std::slice::from_ref(&report));
        assert!(text.len() < 400_000, "{format:?} has {} bytes", text.len());
    }
}

#[test]
fn cells_and_messages_have_no_links_and_no_mentions() {
    assert_eq!(cell("an error with the code -32601, not 7."), "an error with the code -32601, not 7.");
    assert_eq!(cell("@everyone"), "`@everyone`");
    assert_eq!(cell("see http://evil.example"), "`see http://evil.example`");
    assert_eq!(cell("www.evil.example"), "`www.evil.example`");
    assert_eq!(cell("[a](b) <img>"), "`[a](b) <img>`");
    assert_eq!(cell("a ``` | \\| @b"), "```` a ``` \\| \\ \\| @b ````");
    assert_eq!(cell("see GH-12"), "`see GH-12`");
    assert_eq!(without_links("[a](http://b) @c www.d"), "[a] (http: //b) @ c www .d");
}
