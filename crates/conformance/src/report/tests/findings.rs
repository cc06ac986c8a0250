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
    let config = Config::new(SubjectKind::McpServer, Target::Url("http://x/mcp".into()));
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
        known.find(|known| known.level == level).unwrap().id.clone()
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
    let rest = (2 << 20) - MAX_TEXT;
    assert!(finding_lines(&report.findings()[0]).contains(&format!("… ({rest} bytes more)")));
    let lines = finding_lines(&report.findings()[0]);
    assert!(lines.contains("(5904 bytes more)") && lines.contains("(40 steps left out)"), "{}", lines.len());
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
