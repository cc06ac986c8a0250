//! Each script of this crate fits itself, and is missed by every side that differs from it in one place.

use std::path::{Path, PathBuf};

use agentwire_conformance::{Protocol, Registry, Revision, Role, ScriptFile};
use agentwire_recording::Side;
use agentwire_recording::script::{Script, ScriptEvent};

use crate::counterpart::{conformant, outcome, variants, wrong};

/// The folders, with how many scripts each has at least.
const FOLDERS: &[(&str, usize)] = &[
    ("acp-agent", 53),
    ("acp-agent-router/both", 8),
    ("acp-agent-router/v1", 4),
    ("acp-agent-router/v2", 4),
    ("acp-agent-unstable", 2),
    ("acp-agent-v2", 24),
    ("acp-client", 49),
    ("acp-client-prompted", 1),
    ("acp-client-v2", 32),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts")
}

/// Every script, with its path below the folder of scripts.
fn scripts() -> Vec<(String, Script)> {
    let mut scripts = Vec::new();
    for (name, least) in FOLDERS {
        let files = ScriptFile::read_all(&folder().join(name)).unwrap();
        assert!(files.len() >= *least, "{name} has {} scripts", files.len());
        scripts.extend(files.into_iter().map(|file| (format!("{name}/{}", file.name), file.script)));
    }
    scripts
}

/// A script that passes whatever the judged side does would be worse than none.
#[test]
fn each_script_is_missed_by_every_side_that_differs() {
    let (mut tried, mut caught_nothing) = (0, Vec::new());
    for (name, script) in scripts() {
        let reads = conformant(&script);
        assert_eq!(outcome(&script, &reads), Ok(()), "{name} does not fit itself");
        assert!(reads.iter().any(Option::is_some), "{name} expects no message");
        for (what, reads) in wrong(&script) {
            tried += 1;
            if outcome(&script, &reads).is_ok() {
                caught_nothing.push(format!("{name}, {what}"));
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
    assert!(caught_nothing.is_empty(), "of {tried}:\n{}", caught_nothing.join("\n"));
}

/// A pattern demands more than a valid JSON-RPC message.
#[test]
fn each_expected_message_is_known_by_its_id_or_its_method() {
    for (name, script) in scripts() {
        for event in &script.events {
            let ScriptEvent::Expect(pattern) = event else { continue };
            let fixes = |member: &str| {
                pattern.get(member).is_some_and(|pattern| !variants(pattern, pattern).is_empty())
            };
            assert!(fixes("id") || fixes("method"), "{name}: {pattern}");
        }
    }
}

#[test]
fn headers_name_requirements_that_bind_the_judged_side() {
    let registry = Registry::load().unwrap();
    for (name, script) in scripts() {
        let (side, role) = if name.starts_with("acp-client") {
            (Side::Client, Role::Client)
        } else {
            (Side::Agent, Role::Agent)
        };
        assert_eq!(script.judged, side, "{name}");
        let revision: Revision = script.revision.as_deref().unwrap().parse().unwrap();
        // Scripts of programs are checks. What drafts add has no requirements, and other scripts of clients show what this
        // project's client does beyond them.
        let may_name_none = role == Role::Client || name.starts_with("acp-agent-unstable");
        assert!(may_name_none || !script.requirements.is_empty(), "{name} names no requirement");
        for id in &script.requirements {
            let requirement = registry.get(Protocol::Acp, id).unwrap_or_else(|| panic!("{name}: {id}"));
            assert!(requirement.binds.contains(&role) && requirement.holds_in(revision), "{name}: {id}");
        }
    }
}
