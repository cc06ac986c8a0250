//! What MCP's newest revision can say, said to older peers: nothing that they do not know.

use agentwire_mcp_schema::Revision;
use agentwire_schema_tests::{Document, Instances, MCP, Reader, Reading};
use proptest::strategy::{Strategy, ValueTree};
use serde_json::Value;

use crate::judge::{Faults, runner};
use crate::registry::{self, Row};

/// A definition, a part of the fault's text, and why there is no older form.
const NO_OLDER_FORM: &[(&str, &str, &str)] = &[
    (
        "ElicitRequestParams",
        "\"requestedSchema\" is a required property",
        "a page has no form; not sent to such a client",
    ),
    ("ElicitRequestParams", "\"mode\":\"url\"", "2025-11-25 names each page, and nobody but the server can"),
    ("ElicitRequestURLParams", "\"elicitationId\" is a required property", "the same"),
    (
        "ElicitResult",
        "is not of types \"boolean\", \"integer\", \"string\"",
        "an older form has no field for several choices",
    ),
    ("", "\"type\":\"array\"", "a field for several choices has no older form"),
    ("", "\"tool_result\"", "who speaks an older revision offers no tools in sampling"),
    ("", "\"tool_use\"", "the same"),
    ("SamplingMessage", "`/content`", "several blocks become several messages, which the request around them does"),
];

const INSTANCES: usize = 40;

#[test]
fn an_older_peer_hears_what_it_knows() {
    let documents: Vec<(Revision, Document)> = registry::DOCUMENTS
        .iter()
        .filter_map(|name| Some((registry::revision_of(name)?, registry::load(name))))
        .collect();
    let mut faults = Faults::default();
    let mut excused = vec![0; NO_OLDER_FORM.len()];
    let (mut runner, mut count) = (runner(), 0);
    for (at, (_, newest)) in documents.iter().enumerate() {
        for row in registry::of(newest) {
            let Some(narrow) = row.narrow else { continue };
            // Each definition once, in the newest shape that it ever had.
            if documents[at + 1..].iter().any(|(_, later)| later.pointer(row.name).is_some()) {
                continue;
            }
            let pointer = newest.pointer(row.name).expect("it is published");
            let instances = Instances::new(newest, &pointer);
            for _ in 0..INSTANCES {
                let value = instances.new_tree(&mut runner).expect("an instance").current();
                for (revision, older) in
                    documents[..=at].iter().filter(|(_, older)| older.pointer(row.name).is_some())
                {
                    count += 1;
                    let text = narrow(&value.to_string(), *revision).expect("it is valid");
                    let Err(fault) = knows(older, &row, &text) else { continue };
                    let excuse = NO_OLDER_FORM.iter().position(|(name, part, _)| {
                        (name.is_empty() || *name == row.name) && fault.contains(part)
                    });
                    match excuse {
                        Some(at) => excused[at] += 1,
                        None => faults.add(
                            row.name,
                            revision.as_str(),
                            &fault,
                            &format!("{value}\n    as {text}"),
                        ),
                    }
                }
            }
        }
    }
    faults.report();
    eprintln!("{count} values narrowed");
    for ((name, part, _), times) in NO_OLDER_FORM.iter().zip(excused) {
        assert!(times > 0, "{name} no longer has the fault `{part}`");
    }
}

/// Valid, and without any member that the revision does not know.
fn knows(document: &Document, row: &Row, text: &str) -> Result<(), String> {
    let pointer = document.pointer(row.name).expect("it is published");
    let value: Value = serde_json::from_str(text).map_err(|fault| fault.to_string())?;
    document.check(&pointer, &value)?;
    let rules = MCP.for_writers();
    match Reader::new(document, &rules).read(&pointer, &value) {
        // The params of earlier revisions have it from what all requests share.
        Reading::Taken(kept) => match kept.beyond_schema().iter().find(|place| *place != "/_meta") {
            Some(place) => Err(format!("{} does not know {place}", document.name())),
            None => Ok(()),
        },
        other => Err(format!("{other:?}")),
    }
}
