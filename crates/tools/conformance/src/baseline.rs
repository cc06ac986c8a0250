//! Known failures, each with a reason. What is known does not fail a run; what is listed and no longer fails does.

use std::fmt;

use agentwire_jsonrpc::Printable;
use serde::Deserialize;
use yaml_rust2::parser::{Event, Parser};

use crate::report::Report;
use crate::requirements::registry::{Registry, RegistryError};
use crate::requirements::revision::Revision;
use crate::subject::{SubjectKind, Transport};
use crate::verdict::Verdict;

/// A file of known failures.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Baseline {
    /// One for each failure, or for the same failure in several places.
    #[serde(default)]
    known: Vec<KnownFailure>,
}

/// An entry `[[known]]`. What it leaves out may be anything.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFailure {
    /// Such as `mcp/RPC-06`.
    requirement: String,
    kind: Option<SubjectKind>,
    transport: Option<Transport>,
    revision: Option<Revision>,
    /// Whether it also passes at times. It is never stale then.
    #[serde(default)]
    flaky: bool,
    /// Why the failure stays.
    reason: String,
}

/// The position in the official suite's baseline.
enum Place {
    Before,
    Key,
    Value(SubjectKind),
    Scenarios,
    After,
}

/// The scenarios of each side that MCP's official suite expects to fail. The parser is asked for one event at a time, and anything
/// but two lists of texts is refused at once, so that no nesting and no alias costs anything.
fn expected_failures(text: &str) -> Result<Vec<(SubjectKind, Vec<String>)>, BaselineError> {
    let malformed = |why: &dyn fmt::Display| BaselineError::MalformedOfficial(why.to_string());
    let mut parser = Parser::new(text.chars());
    let (mut place, mut sides) = (Place::Before, Vec::new());
    loop {
        let (event, _) = parser.next_token().map_err(|error| malformed(&error))?;
        place = match (event, place) {
            (Event::StreamStart | Event::DocumentStart, Place::Before) => Place::Before,
            (Event::MappingStart(..), Place::Before) => Place::Key,
            (Event::Scalar(name, ..), Place::Key) => Place::Value(match name.as_str() {
                "server" => SubjectKind::McpServer,
                "client" => SubjectKind::McpClient,
                _ => return Err(malformed(&format!("unknown member `{name}`; known: server, client"))),
            }),
            (Event::SequenceStart(..), Place::Value(kind)) => {
                sides.push((kind, Vec::new()));
                Place::Scenarios
            }
            (Event::Scalar(nothing, ..), Place::Value(_)) if nothing.is_empty() || nothing == "~" => {
                Place::Key
            }
            (Event::Scalar(name, ..), Place::Scenarios) => {
                sides.last_mut().into_iter().for_each(|(_, names)| names.push(name.clone()));
                Place::Scenarios
            }
            (Event::SequenceEnd, Place::Scenarios) => Place::Key,
            (Event::MappingEnd, Place::Key) => Place::After,
            (Event::DocumentEnd, Place::After) => Place::After,
            (Event::StreamEnd, Place::Before | Place::After) => return Ok(sides),
            _ => return Err(malformed(&"it has more than lists of scenarios for `server` and `client`")),
        };
    }
}

/// A baseline that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// It is not TOML, or has members that a baseline does not have.
    #[error("the baseline is malformed: {0}")]
    Malformed(toml::de::Error),
    /// It is not YAML of the official suite's form.
    #[error("the official suite's baseline is malformed: {0}")]
    MalformedOfficial(String),
    /// The requirements cannot be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A name that no requirement has.
    #[error("the baseline names {name}, which is not a requirement; the nearest one is {nearest}")]
    UnknownRequirement {
        /// The name.
        name: String,
        /// The requirement whose name is nearest.
        nearest: String,
    },
    /// A failure without a reason.
    #[error("the baseline gives no reason for {0}")]
    NoReason(String),
}

impl Baseline {
    /// Reads a baseline from TOML.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a baseline, or if an entry names no requirement or has no reason.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let baseline: Self = toml::from_str(text).map_err(BaselineError::Malformed)?;
        let registry = Registry::load()?;
        for KnownFailure { requirement, .. } in &baseline.known {
            if let Some(nearest) = registry.nearest_to(requirement) {
                return Err(BaselineError::UnknownRequirement { name: requirement.clone(), nearest });
            }
        }
        match baseline.known.iter().find(|known| known.reason.trim().is_empty()) {
            Some(known) => Err(BaselineError::NoReason(known.requirement.clone())),
            None => Ok(baseline),
        }
    }

    /// Reads the file of expected failures of MCP's official suite, `conformance-baseline.yml`: lists of scenarios for `server` and
    /// `client`. The failures of the requirements that a scenario touches are known. None of these entries is ever stale, because a
    /// scenario may fail by one of its requirements alone.
    ///
    /// # Errors
    ///
    /// Fails if the text is not YAML of this form.
    pub fn parse_official(text: &str) -> Result<Self, BaselineError> {
        let registry = Registry::load()?;
        let mut known = Vec::new();
        for (kind, scenarios) in expected_failures(text)? {
            for scenario in scenarios {
                let touched = registry.all().iter().filter(|requirement| {
                    requirement.binds.contains(&kind.role()) && requirement.is_touched_by(&scenario)
                });
                known.extend(touched.map(|requirement| KnownFailure {
                    requirement: requirement.name(),
                    kind: Some(kind),
                    transport: None,
                    revision: None,
                    flaky: true,
                    reason: format!("The official suite's scenario {scenario} is expected to fail."),
                }));
            }
        }
        Ok(Self { known })
    }

    /// The entries of both, those of `self` first.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.known.extend(other.known);
        self
    }

    /// The file that makes every failure of the reports a known one. Entries of this baseline stay as they are, but
    /// those of which something was judged and nothing fails any more; flaky ones always stay. A new entry has what was expected as its
    /// reason.
    pub fn updated(&self, reports: &[Report]) -> String {
        let mut stays: Vec<KnownFailure> = self.known.clone();
        let mut copies = reports.to_vec();
        stays.retain(|known| {
            let (judged, failed) = known.mark(&mut copies);
            failed || !judged || known.flaky
        });
        for report in &copies {
            for finding in report.findings() {
                let result = finding.result;
                let Verdict::Fail(failure) = &result.verdict else { continue };
                if result.known.is_some() {
                    continue;
                }
                let judged = report.results.iter().filter(|other| {
                    other.requirement == result.requirement
                        && matches!(other.verdict, Verdict::Pass | Verdict::Fail(_))
                });
                let is_everywhere = judged.count() == finding.revisions.len();
                let revisions = if is_everywhere {
                    vec![None]
                } else {
                    finding.revisions.iter().copied().map(Some).collect()
                };
                stays.extend(revisions.into_iter().map(|revision| KnownFailure {
                    requirement: result.requirement.clone(),
                    kind: Some(report.kind),
                    transport: Some(result.transport),
                    revision,
                    flaky: false,
                    reason: format!("Not looked at yet. Expected {}.", failure.expected),
                }));
            }
        }
        stays.iter().map(KnownFailure::text).collect::<Vec<_>>().join("\n")
    }

    /// Marks the known failures in the reports. Returns the entries that are stale: something that they name was judged, and
    /// nothing that they name failed.
    pub fn apply(&self, reports: &mut [Report]) -> Vec<String> {
        self.known.iter().filter(|known| known.apply(reports)).map(KnownFailure::name).collect()
    }
}

impl KnownFailure {
    /// Whether the entry is stale.
    fn apply(&self, reports: &mut [Report]) -> bool {
        let (judged, failed) = self.mark(reports);
        judged && !failed && !self.flaky
    }

    /// Marks the failures that the entry names. Returns whether something was judged that it names, and whether that failed.
    fn mark(&self, reports: &mut [Report]) -> (bool, bool) {
        let (mut judged, mut failed) = (false, false);
        for report in reports.iter_mut().filter(|report| self.kind.is_none_or(|kind| kind == report.kind)) {
            for result in &mut report.results {
                let named = result.requirement == self.requirement
                    && self.transport.is_none_or(|transport| transport == result.transport)
                    && self.revision.is_none_or(|revision| revision == result.revision);
                if !named {
                    continue;
                }
                judged |= matches!(result.verdict, Verdict::Pass | Verdict::Fail(_));
                if matches!(result.verdict, Verdict::Fail(_)) {
                    failed = true;
                    result.known = Some(self.reason.clone());
                }
            }
        }
        (judged, failed)
    }

    /// As an entry of a file.
    fn text(&self) -> String {
        let mut text = format!("[[known]]\nrequirement = \"{}\"\n", self.requirement);
        let places = [
            ("kind", self.kind.map(|kind| kind.to_string())),
            ("transport", self.transport.map(|transport| transport.to_string())),
            ("revision", self.revision.map(|revision| revision.to_string())),
        ];
        for (name, value) in places {
            text.extend(value.map(|value| format!("{name} = \"{value}\"\n")));
        }
        if self.flaky {
            text.push_str("flaky = true\n");
        }
        // A string of JSON without control characters is one of TOML.
        let reason = serde_json::Value::String(Printable::new(&self.reason).to_string());
        text + &format!("reason = {reason}\n")
    }

    fn name(&self) -> String {
        let parts = [
            self.kind.map(|kind| kind.to_string()),
            self.transport.map(|transport| transport.to_string()),
            self.revision.map(|revision| revision.to_string()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            self.requirement.clone()
        } else {
            format!("{} ({})", self.requirement, parts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_a_file_is_read_as_it_was_written() {
        let known = KnownFailure {
            requirement: "mcp/RPC-06".into(),
            kind: Some(SubjectKind::McpServer),
            transport: None,
            revision: Some(Revision::Mcp20251125),
            flaky: true,
            reason: "Two \"words\"\nand a \\.".into(),
        };
        let read = &Baseline::parse(&known.text()).unwrap().known[0];
        assert_eq!(read.text(), known.text());
        assert_eq!((read.reason.as_str(), read.flaky), (known.reason.as_str(), true));
    }

    #[test]
    fn scenarios_of_the_official_suite_are_known_failures_of_their_requirements() {
        let text = "# Known.\nserver:\n  - tools-call-sampling\nclient: []\n";
        let known = Baseline::parse_official(text).unwrap().known;
        assert!(!known.is_empty());
        assert!(known.iter().all(|known| known.kind == Some(SubjectKind::McpServer) && known.flaky));
        let parse = |text: &str| Baseline::parse_official(text).unwrap_err().to_string();
        assert!(parse("servers:\n  - ping\n").contains("servers"));
        assert!(Baseline::parse_official("client:\n").unwrap().known.is_empty());
        assert!(Baseline::parse_official("").unwrap().known.is_empty());
        let laughs = "a: &a [x, x]\nb: &b [*a, *a]\n";
        let deep = format!("server:\n{}x\n", "- ".repeat(300_000));
        for wrong in [laughs, &deep, "- ping\n", "server: ping\n", "server:\n  - {a: b}\n", "server: [\n"] {
            assert!(Baseline::parse_official(wrong).is_err());
        }
    }

    #[test]
    fn a_mistyped_requirement_or_member_is_named() {
        let parse = |text: &str| Baseline::parse(text).unwrap_err().to_string();
        let error = parse("[[known]]\nrequirement = \"mcp/RPC-6\"\nreason = \"x\"\n");
        let expected =
            "the baseline names mcp/RPC-6, which is not a requirement; the nearest one is mcp/RPC-06";
        assert_eq!(error, expected);
        let error = parse("[[known]]\nrequirement = \"mcp/RPC-06\"\nrevison = \"1\"\nreason = \"x\"\n");
        assert!(error.contains("unknown field `revison`") && error.contains("`revision`"), "{error}");
        let error = parse("[[knwon]]\nrequirement = \"mcp/RPC-06\"\nreason = \"x\"\n");
        assert!(error.contains("unknown field `knwon`") && error.contains("`known`"), "{error}");
    }
}
