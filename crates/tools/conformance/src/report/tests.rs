use std::time::Duration;

use serde_json::Value;

use super::*;
use crate::requirements::protocol::Protocol;
use crate::requirements::registry::Registry;
use crate::requirements::requirement::{Level, Requirement};
use crate::requirements::revision::Revision;
use crate::settings::config::Config;
use crate::subject::{SubjectKind, Transport};
use crate::trace::Trace;
use crate::trace::{Part, Sender};
use crate::verdict::Failure;
use crate::verdict::Verdict;
use crate::{Baseline, Target};

mod findings;

/// Text that could harm a terminal, a page, or a reader who trusts a link.
const HOSTILE: &str = "\u{1b}[2J</script><img src=x onerror=alert(1)>|\"'&`\u{0}\u{202e}";

/// A report with a pass and a failure, of a subject that sends what could hurt a terminal or a page.
fn report() -> Report {
    let registry = Registry::load().unwrap();
    let requirement = registry.get(Protocol::Mcp, "RPC-06").unwrap();
    let trace = Trace::new();
    let info = serde_json::json!({"id": 1, "result": {"serverInfo": {"name": HOSTILE, "version": "1"}}});
    trace.add(Sender::Subject, Part::Line, info.to_string().as_bytes());
    trace.add(Sender::Subject, Part::Line, HOSTILE.as_bytes());
    trace.add(Sender::Subject, Part::Line, b"\xff\xfe");
    let failed = Verdict::Fail(Failure { expected: "the id 7".into(), seen: format!("`{HOSTILE}`") });
    let result = |revision, verdict| {
        CheckResult::new(
            requirement,
            "ids".to_owned(),
            revision,
            Transport::Http,
            verdict,
            &Excerpt::of(&trace),
            Duration::from_millis(5),
        )
    };
    let results = vec![result(Revision::Mcp20250326, Verdict::Pass), result(Revision::Mcp20251125, failed)];
    Report::new(
        &Config::new(SubjectKind::McpServer, Target::Url("http://x/mcp".into())),
        Ran { spoken: vec![Revision::Mcp20251125], results, ..Ran::default() },
    )
}

/// Markdown without its code spans.
fn without_code(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(begin) = rest.find('`') {
        kept.push_str(&rest[..begin]);
        let fence: String = rest[begin..].chars().take_while(|letter| *letter == '`').collect();
        rest = &rest[begin + fence.len()..];
        let is_end = |(at, _): &(usize, &str)| {
            !rest[at + fence.len()..].starts_with('`') && !rest[..*at].ends_with('`')
        };
        let end = rest.match_indices(&fence).find(is_end).expect("each code span ends").0;
        rest = &rest[end + fence.len()..];
    }
    kept + rest
}

#[test]
fn no_form_shows_what_a_subject_sends_as_it_is() {
    let report = report();
    assert!(report.subject.as_deref().is_some_and(|subject| subject.contains("</script>")));
    for format in [Format::Json, Format::Junit, Format::Sarif, Format::Markdown, Format::Html] {
        let text = format.render(std::slice::from_ref(&report));
        assert!(!text.contains('\u{1b}') && !text.contains('\u{0}'), "{format:?} has control characters");
        assert!(!text.contains('\u{202e}'), "{format:?} has marks that reorder text");
        if matches!(format, Format::Html | Format::Junit) {
            assert!(
                !text.contains("<img") && !text.contains("</script>"),
                "{format:?} has the subject's markup"
            );
        }
        if format == Format::Markdown {
            let text = without_code(&text);
            for part in ["<img", "onerror", "U+202E"] {
                assert!(!text.contains(part), "Markdown has the subject's markup: {text}");
            }
        }
    }
    let lines = result_lines(&report.results[1]);
    assert!(!lines.contains('\u{1b}') && lines.contains("expected: the id 7"), "{lines}");
}

#[test]
fn a_failure_shows_requirement_page_and_bytes() {
    let report = report();
    for text in [
        result_lines(&report.results[1]),
        Format::Html.render(std::slice::from_ref(&report)),
        Format::Junit.render(&[report]),
    ] {
        for part in ["mcp/RPC-06", "modelcontextprotocol.io/specification/", "the id 7", "serverInfo"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}

#[test]
fn json_and_sarif_are_json() {
    let report = report();
    let json: Value = serde_json::from_str(&Format::Json.render(std::slice::from_ref(&report))).unwrap();
    assert_eq!(json.pointer("/reports/0/results/0/verdict"), Some(&"pass".into()));
    assert_eq!(json.pointer("/reports/0/results/1/expected"), Some(&"the id 7".into()));
    let sarif: Value = serde_json::from_str(&Format::Sarif.render(&[report])).unwrap();
    assert_eq!(sarif.pointer("/runs/0/results/0/ruleId"), Some(&"mcp/RPC-06".into()));
    assert_eq!(sarif.pointer("/runs/0/results/0/level"), Some(&"error".into()));
    assert_eq!(sarif.pointer("/runs/0/results/1"), None);
    // A program at a URL is not a file of the repository.
    assert_eq!(sarif.pointer("/runs/0/results/0/locations/0/physicalLocation"), None);
    let place = "/runs/0/results/0/locations/0/logicalLocations/0/fullyQualifiedName";
    assert!(sarif.pointer(place).is_some_and(|name| name.as_str().unwrap().ends_with("mcp/RPC-06")));
}

#[test]
fn known_failures_do_not_count_and_stale_ones_are_named() {
    let mut reports = [report()];
    assert_eq!(reports[0].failures(Level::Must).count(), 1);
    let baseline = Baseline::parse(
        "[[known]]\nrequirement = \"mcp/RPC-06\"\nrevision = \"2025-11-25\"\nreason = \"because\"\n\
         [[known]]\nrequirement = \"mcp/RPC-06\"\nrevision = \"2025-03-26\"\nreason = \"no longer\"\n\
         [[known]]\nrequirement = \"mcp/RPC-06\"\nrevision = \"2024-11-05\"\nreason = \"not judged\"\n",
    );
    assert_eq!(baseline.unwrap().apply(&mut reports), ["mcp/RPC-06 (2025-03-26)"]);
    assert_eq!(reports[0].failures(Level::May).count(), 0);
    let counts = Counts::of(&reports[0].results);
    assert_eq!((counts.passed, counts.failed, counts.known), (1, 0, 1));
}

#[test]
fn a_baseline_gives_reasons() {
    let error = Baseline::parse("[[known]]\nrequirement = \"mcp/RPC-06\"\nreason = \" \"\n").unwrap_err();
    assert_eq!(error.to_string(), "the baseline gives no reason for mcp/RPC-06");
    assert!(Baseline::parse("[[known]]\nrequirement = \"mcp/RPC-06\"\n").is_err());
}
