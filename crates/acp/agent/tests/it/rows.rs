//! The protocol's requirements for agents, and the test that covers each.
//!
//! The ids come from the conformance suite. The headers of its scripts name them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::script::{folder, read};

/// The place of the test for a requirement.
enum Where {
    /// Here: in these scripts.
    Here(&'static [&'static str]),
    /// In a lower crate: what the transport carries, how messages are read and written.
    Below(&'static str),
    /// Nowhere in this crate: the requirement concerns the content of a session or the author of the agent.
    Author,
}
use Where::{Author, Below, Here};

const ROWS: &[(&str, Where)] = &[
    ("TR-01", Below("core/jsonrpc")),
    ("TR-02", Below("core/jsonrpc")),
    ("TR-03", Below("core/stdio")),
    ("TR-05", Below("core/stdio")),
    ("TR-06", Here(&["TR-06-batches"])),
    ("TR-07", Below("core/stdio")),
    ("TR-08", Below("core/transport")),
    ("TR-09", Below("core/transport")),
    ("TR-10", Below("core/peer")),
    ("RPC-01", Here(&["RPC-01-ids"])),
    ("RPC-02", Below("core/jsonrpc")),
    ("RPC-03", Here(&["RPC-03-notifications"])),
    ("RPC-04", Here(&["RPC-04-unknown-methods"])),
    ("RPC-05", Here(&["RPC-04-unknown-methods"])),
    ("RPC-06", Here(&["RPC-03-notifications"])),
    ("RPC-07", Here(&["RPC-07-extensions", "RPC-07-names-of-ones-own"])),
    ("RPC-08", Below("acp/schema")),
    ("RPC-09", Below("acp/schema")),
    ("RPC-10", Author),
    ("RPC-11", Here(&["RPC-11-bad-lines"])),
    ("RPC-12", Here(&["RPC-12-errors-heal", "RPC-12-initialize-twice"])),
    ("RPC-13", Here(&["RPC-13-absolute-paths", "TC-05-absolute-paths", "LIST-05-absolute-paths"])),
    ("RPC-14", Here(&["TC-05-absolute-paths"])),
    ("RPC-15", Here(&["RPC-15-meta"])),
    ("RPC-16", Author),
    ("RPC-17", Author),
    ("RPC-18", Author),
    ("RPC-19", Here(&["RPC-19-malformed-optional-members"])),
    ("RPC-20", Below("acp/schema")),
    ("RPC-21", Here(&["RPC-21-null-lists"])),
    ("INIT-05", Here(&["INIT-05-answer"])),
    ("INIT-06", Here(&["INIT-05-answer"])),
    (
        "INIT-07",
        Here(&[
            "INIT-07-earlier-version",
            "INIT-07-later-version",
            "INIT-07-never-echoed",
            "INIT-07-version-two",
        ]),
    ),
    ("INIT-09", Author),
    ("INIT-10", Here(&["INIT-10-version-is-an-integer"])),
    ("INIT-11", Here(&["INIT-07-version-two"])),
    (
        "INIT-12",
        Here(&[
            "INIT-12-each-capability-alone",
            "INIT-12-what-the-agent-lacks",
            "INIT-12-what-the-client-lacks",
        ]),
    ),
    ("INIT-13", Here(&["INIT-12-each-capability-alone", "INIT-12-the-other-half"])),
    ("INIT-15", Below("acp/schema")),
    ("INIT-16", Here(&["PR-10-cancel"])),
    ("INIT-17", Here(&["PR-03-stop-reasons"])),
    ("INIT-19", Here(&["INIT-19-before-initialize"])),
    ("AUTH-02", Here(&["AUTH-02-terminal-methods"])),
    ("AUTH-04", Here(&["AUTH-13-authenticate"])),
    ("AUTH-06", Here(&["AUTH-13-authenticate"])),
    ("AUTH-07", Author),
    ("AUTH-10", Here(&["AUTH-10-unique-ids"])),
    ("AUTH-11", Author),
    ("AUTH-13", Here(&["AUTH-13-authenticate"])),
    ("SES-02", Author),
    ("SES-04", Author),
    ("SES-07", Author),
    ("SES-08", Here(&["SES-08-load"])),
    ("SES-09", Here(&["SES-08-load"])),
    ("SES-12", Author),
    ("SES-14", Here(&["SES-14-close"])),
    ("SES-15", Author),
    ("SES-19", Author),
    ("SES-20", Author),
    ("SES-21", Author),
    ("SES-22", Author),
    ("SES-24", Author),
    ("SES-26", Author),
    ("SES-28", Author),
    ("LIST-02", Here(&["LIST-05-absolute-paths"])),
    ("LIST-03", Here(&["LIST-05-absolute-paths"])),
    ("LIST-04", Author),
    ("LIST-05", Here(&["LIST-05-absolute-paths"])),
    ("LIST-08", Author),
    ("LIST-09", Author),
    ("LIST-12", Author),
    ("DEL-02", Author),
    ("DEL-03", Author),
    ("PR-03", Here(&["PR-03-stop-reasons", "PR-03-foreign-stop-reason"])),
    ("PR-04", Here(&["PR-03-stop-reasons"])),
    ("PR-05", Here(&["PR-05-content", "PR-05-no-content"])),
    ("PR-06", Here(&["PR-06-two-sessions"])),
    ("PR-07", Author),
    ("PR-08", Here(&["PR-08-usage"])),
    ("PR-09", Author),
    ("PR-10", Here(&["PR-10-cancel", "PR-10-cancel-while-asking"])),
    ("PR-11", Here(&["PR-10-cancel"])),
    ("PR-12", Here(&["PR-10-cancel"])),
    ("PR-13", Author),
    ("PR-17", Here(&["PR-17-cancel-nothing"])),
    ("PR-18", Here(&["PR-18-cancel-at-once"])),
    ("PR-19", Here(&["PR-06-two-sessions"])),
    ("PR-20", Author),
    ("PR-21", Here(&["PR-21-cancel-request"])),
    ("PR-22", Author),
    ("PR-23", Here(&["PR-21-cancel-request"])),
    ("PR-24", Below("acp/schema")),
    ("PLAN-01", Author),
    ("PLAN-02", Author),
    ("TC-01", Author),
    ("TC-02", Author),
    ("TC-03", Below("acp/schema")),
    ("TC-04", Author),
    ("TC-05", Here(&["TC-05-absolute-paths"])),
    ("TC-06", Author),
    ("TC-07", Below("acp/schema")),
    ("TC-11", Here(&["TC-11-options"])),
    ("FS-01", Here(&["INIT-12-what-the-client-lacks"])),
    ("FS-03", Here(&["RPC-13-absolute-paths"])),
    ("FS-06", Below("acp/schema")),
    ("TERM-01", Here(&["INIT-12-what-the-client-lacks"])),
    ("TERM-04", Author),
    ("TERM-10", Here(&["RPC-13-absolute-paths"])),
    ("MODE-01", Here(&["MODE-01-current-mode"])),
    ("MODE-03", Here(&["MODE-01-current-mode"])),
    ("MODE-04", Here(&["MODE-01-current-mode"])),
    ("CFG-01", Here(&["CFG-01-boolean-options", "CFG-01-boolean-options-taken"])),
    ("CFG-02", Here(&["CFG-02-current-values"])),
    ("CFG-03", Here(&["CFG-03-set-and-told"])),
    ("CFG-04", Here(&["CFG-02-current-values"])),
    ("CFG-06", Below("acp/schema")),
    ("CFG-09", Author),
    ("CFG-10", Author),
    ("CFG-12", Here(&["CFG-03-set-and-told"])),
    ("CON-01", Below("acp/schema")),
    ("EL-01", Here(&["INIT-12-what-the-client-lacks"])),
    ("EL-03", Here(&["EL-03-elicitation"])),
    ("EL-04", Below("acp/schema")),
    ("EL-05", Author),
    ("EL-07", Author),
    ("EL-08", Author),
    ("EL-09", Here(&["EL-03-elicitation"])),
    ("EL-10", Here(&["EL-03-elicitation"])),
    ("EL-11", Author),
    ("EL-12", Author),
    ("EL-14", Author),
    ("EL-16", Here(&["EL-03-elicitation"])),
    ("EL-17", Author),
    ("EL-19", Here(&["EL-03-elicitation"])),
    ("NOT-01", Here(&["INIT-12-what-the-client-lacks"])),
    ("CMP-01", Here(&["INIT-12-what-the-client-lacks"])),
    ("CMP-02", Below("acp/schema")),
];

#[test]
fn every_row_is_shown_where_the_table_says() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for (row, place) in ROWS {
        if !seen.insert(row) {
            wrong.push(format!("{row} stands twice"));
        }
        match place {
            Here(scripts) => wrong.extend(scripts.iter().filter_map(|name| {
                let script = read(&folder("acp-agent").join(name).with_extension("jsonl"));
                let is_named = script.requirements.iter().any(|named| named == row);
                (!is_named).then(|| format!("{row}: {name} does not name it"))
            })),
            Below(name) if !crates.join(name).is_dir() => wrong.push(format!("{row}: no crate {name}")),
            Below(_) | Author => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_script_is_in_the_table() {
    let named: BTreeSet<&str> = ROWS
        .iter()
        .flat_map(|(_, place)| match place {
            Here(scripts) => scripts.iter().copied(),
            _ => [].iter().copied(),
        })
        .collect();
    // What a client must do, and demands that belong to no single row.
    let others = ["SES-23-mcp-servers", "SES-02-session-ids", "TURN-everything", "TURN-odd-answers"];
    for entry in std::fs::read_dir(folder("acp-agent")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(named.contains(name) || others.contains(&name), "{name}");
    }
}
