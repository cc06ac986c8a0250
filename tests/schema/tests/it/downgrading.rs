//! Messages of MCP's newest revision for older peers: nothing that they do not know.

use agentwire_mcp_schema::Revision;
use agentwire_schema_tests::{Document, Instances, MCP, Reader, Reading};
use serde_json::Value;

use crate::judge::{Faults, runner};
use crate::registry::{self, Row};

/// The parts without an older form, as the errors name them.
const NO_OLDER_FORM: &[&str] = &[
    "`elicitation_id` of `ElicitUrlRequest`",
    "`ElicitUrlRequest`",
    "`MultiSelectSchema`",
    "`several choices in a field`",
    "`ToolUseContent`",
    "`ToolResultContent`",
    "`a message of several blocks or of none`",
];

const INSTANCES: usize = 40;

#[test]
fn a_downgraded_message_is_valid_in_the_older_revision() {
    let documents: Vec<(Revision, &Document)> = registry::DOCUMENTS
        .iter()
        .filter_map(|name| Some((registry::revision_of(name)?, registry::load(name))))
        .collect();
    let mut faults = Faults::default();
    let mut refused = vec![0; NO_OLDER_FORM.len()];
    let (mut runner, mut count) = (runner(), 0);
    for (at, (own, newest)) in documents.iter().enumerate() {
        for row in registry::of(newest) {
            let Some(downgrade) = row.downgrade else { continue };
            // Each definition once, in the newest shape that it ever had.
            if documents[at + 1..].iter().any(|(_, later)| later.pointer(row.name).is_some()) {
                continue;
            }
            let pointer = newest.pointer(row.name).expect("it is published");
            let instances = Instances::new(newest, &pointer);
            for _ in 0..INSTANCES {
                let value = instances.make(&mut runner);
                for (revision, older) in
                    documents[..=at].iter().filter(|(_, older)| older.pointer(row.name).is_some())
                {
                    count += 1;
                    let text = match downgrade(&value.to_string(), *revision).expect("it is valid") {
                        Ok(text) => text,
                        Err(unsupported) => {
                            let unsupported = unsupported.to_string();
                            let known = NO_OLDER_FORM.iter().position(|what| unsupported.contains(what));
                            match known {
                                Some(known) if revision != own => refused[known] += 1,
                                _ => {
                                    faults.add(row.name, revision.as_str(), &unsupported, &value.to_string())
                                }
                            }
                            continue;
                        }
                    };
                    if let Err(fault) = knows(older, &row, &text) {
                        let example = format!("{value}\n    as {text}");
                        faults.add(row.name, revision.as_str(), &fault, &example);
                    }
                }
            }
        }
    }
    faults.report();
    eprintln!("{count} values downgraded");
    for (what, times) in NO_OLDER_FORM.iter().zip(refused) {
        assert!(times > 0, "{what} was never refused");
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
