//! Recorded messages of others' programs: the generated schemas allow them, and our types keep them.
//!
//! Where it is not, the peer is at fault, and the fault is listed here with its reason. A fault that is not listed
//! fails the test, and so does one that is listed and does not happen.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use agentwire_schema_tests::{ACP, Conversation, MCP, Reader, Reading, Side};
use serde_json::Value;

use crate::registry::{self, Row};

/// A transcript, a part of the fault's text, and why it is so.
const FAULTS: &[(&str, &str, &str)] = &[
    ("acp-acpx-npm-agent-odd.jsonl:6:", "weather_update", ODD),
    ("acp-acpx-npm-agent-odd.jsonl:7:", "hologram", ODD),
    ("acp-acpx-npm-agent-odd.jsonl:8:", "juggle", ODD),
    ("acp-codex-acp.jsonl:12:", "session/no_such_method", PROBE),
    ("acp-opencode.jsonl:24:", "session/no_such_method", PROBE),
    ("mcp-server-everything.jsonl:43:", "no/such/method", PROBE),
    ("mcp-server-filesystem.jsonl:14:", "no/such/method", PROBE),
];

const ODD: &str = "our own agent on the SDK says what no specification knows, to see that it is borne";
const PROBE: &str = "the recorder asks for what nobody has, to see it refused";

#[test]
fn every_message_is_valid() {
    let mut faults = BTreeSet::new();
    let mut count = 0;
    for (name, lines) in transcripts() {
        let mut conversation = conversation(&name);
        for (number, (from, message)) in (1..).zip(lines) {
            count += 1;
            if let Err(fault) = conversation.check(from, &message) {
                faults.insert(format!("{name}:{number}: {fault}"));
            }
        }
    }
    let is_listed =
        |fault: &String| FAULTS.iter().any(|(name, part, _)| fault.starts_with(name) && fault.contains(part));
    let unlisted: Vec<_> = faults.iter().filter(|fault| !is_listed(fault)).collect();
    assert!(unlisted.is_empty(), "{} of {count} messages: {unlisted:#?}", unlisted.len());
    for (name, part, _) in FAULTS {
        let happens = |fault: &String| fault.starts_with(name) && fault.contains(part);
        assert!(faults.iter().any(happens), "{name} no longer has the fault `{part}`");
    }
    assert!(count > 300, "only {count} messages");
}

/// Params and results survive decoding and encoding by the type of their method.
#[test]
fn our_types_keep_every_message() {
    let mut count = 0;
    for (name, lines) in transcripts() {
        let mut conversation = conversation(&name);
        let rules = if name.starts_with("acp-") { ACP } else { MCP };
        for (number, (from, message)) in (1..).zip(lines) {
            let answered = conversation.answered(from, &message).map(str::to_owned);
            let _listed_elsewhere = conversation.check(from, &message);
            let method = message["method"].as_str().map(str::to_owned).or(answered);
            let payload = message.get("result").or(message.get("params"));
            let (Some(method), Some(payload)) = (method, payload) else { continue };
            let document = conversation.validator().expect("each begins with a version").document();
            let part = if message.get("result").is_some() { "result" } else { "params" };
            let Some(definition) = named(document.name(), &method, part) else {
                let is_foreign =
                    method.starts_with('_') || method.replace('_', "/").contains("no/such/method");
                assert!(is_foreign, "{name}:{number}: no type for the {part} of `{method}`");
                continue;
            };
            let rows = registry::of(document);
            let row = rows.iter().find(|row| row.name == definition);
            let row = row.unwrap_or_else(|| panic!("{name}:{number}: no type for {definition}"));
            let reader = Reader::new(document, &rules);
            let pointer = document.pointer(&definition).expect("it is published");
            keeps(&reader, &pointer, row, payload).unwrap_or_else(|fault| panic!("{name}:{number}: {fault}"));
            count += 1;
        }
    }
    assert!(count > 250, "only {count} payloads");
}

fn keeps(reader: &Reader<'_>, pointer: &str, row: &Row, payload: &Value) -> Result<(), String> {
    let text = (row.round_trip)(&payload.to_string()).map_err(|fault| format!("{}: {fault}", row.name))?;
    let written = serde_json::from_str(&text).map_err(|fault| fault.to_string())?;
    match reader.read(pointer, payload) {
        Reading::Taken(kept) => kept.compare(&written).map_err(|fault| format!("{}{fault}", row.name)),
        Reading::Either(_) => Ok(()),
        refused => Err(format!("{}: {refused:?}", row.name)),
    }
}

/// The definition of a method's params or result, from the table that is generated beside the schema.
fn named(document: &str, method: &str, part: &str) -> Option<String> {
    let name = document.replace(".json", ".meta.json");
    let text =
        fs::read_to_string(agentwire_schema_tests::folder().join(name)).expect("run `cargo xtask schema`");
    let meta: Value = serde_json::from_str(&text).expect("JSON");
    let row = meta["methods"].as_array()?.iter().find(|row| row["method"] == method)?;
    row[part].as_str().map(str::to_owned)
}

fn conversation(name: &str) -> Conversation {
    if name.starts_with("acp-") { Conversation::acp() } else { Conversation::mcp() }
}

fn transcripts() -> Vec<(String, Vec<(Side, Value)>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts");
    let entries =
        fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).expect("the transcripts");
    let mut found: Vec<_> = entries
        .iter()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let text = fs::read_to_string(entry.path()).expect("a text file");
            (name, text.lines().filter_map(line).collect())
        })
        .collect();
    found.sort_by(|(left, _), (right, _): &(String, Vec<(Side, Value)>)| left.cmp(right));
    assert!(!found.is_empty());
    found
}

/// The message of a line, and who said it. A header and the ends of streams and processes have none.
fn line(line: &str) -> Option<(Side, Value)> {
    let mut line: Value = serde_json::from_str(line).expect("JSON");
    let from = if line["from"] == "client" { Side::Client } else { Side::Server };
    Some((from, line.get_mut("message")?.take()))
}
