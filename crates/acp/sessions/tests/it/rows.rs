//! The requirements of the protocol on an agent, and the tests that check them.
//!
//! The ids are those of the project's list of what version 1 demands. The names of tests bear them.

use std::collections::BTreeSet;
use std::path::Path;

/// The place of the test of a requirement.
enum Where {
    /// With the agent of the README, as a program: in `on_the_wire.rs`.
    Program,
    /// With agents that offer more than it does: modes, options, plans, a login, terminals. In the other files.
    Richer,
    /// In another crate, on which this one is built.
    Below(&'static str),
    /// Nowhere: the agent's author decides it, or it cannot be observed. The text is the reason.
    Author(&'static str),
}
use Where::{Author, Below, Program, Richer};

const ROWS: &[(&str, Where)] = &[
    ("TR-01", Program),
    ("TR-02", Program),
    ("TR-03", Program),
    ("TR-05", Program),
    ("TR-06", Program),
    ("TR-07", Program),
    ("TR-08", Below("core/transport")),
    ("TR-09", Below("core/transport")),
    ("TR-10", Program),
    ("RPC-01", Program),
    ("RPC-02", Program),
    ("RPC-03", Program),
    ("RPC-04", Program),
    ("RPC-05", Program),
    ("RPC-06", Program),
    ("RPC-07", Program),
    ("RPC-08", Below("acp/schema")),
    ("RPC-09", Below("acp/schema")),
    ("RPC-10", Program),
    ("RPC-11", Program),
    ("RPC-12", Program),
    ("RPC-13", Program),
    ("RPC-14", Below("acp/agent")),
    ("RPC-15", Program),
    ("RPC-16", Author("nothing is written that would be a trace context")),
    ("RPC-17", Author("it has no extensions")),
    ("RPC-18", Author("it has no extensions")),
    ("RPC-19", Program),
    ("RPC-20", Below("acp/schema")),
    ("RPC-21", Program),
    ("INIT-05", Program),
    ("INIT-06", Program),
    ("INIT-07", Program),
    ("INIT-09", Program),
    ("INIT-10", Program),
    ("INIT-11", Below("acp/agent")),
    ("INIT-12", Below("acp/agent")),
    ("INIT-13", Below("acp/agent")),
    ("INIT-15", Program),
    ("INIT-16", Program),
    ("INIT-17", Program),
    ("INIT-19", Program),
    ("AUTH-02", Richer),
    ("AUTH-04", Richer),
    ("AUTH-06", Richer),
    ("AUTH-07", Author("the login is the author's program")),
    ("AUTH-10", Richer),
    ("AUTH-11", Program),
    ("AUTH-13", Richer),
    ("SES-02", Program),
    ("SES-04", Program),
    ("SES-07", Program),
    ("SES-08", Program),
    ("SES-09", Program),
    ("SES-12", Program),
    ("SES-14", Program),
    ("SES-15", Program),
    ("SES-19", Richer),
    ("SES-20", Author("`Turn::resolve` helps, tools are the author's")),
    ("SES-21", Program),
    ("SES-22", Below("mcp/hub")),
    ("SES-24", Program),
    ("SES-26", Program),
    ("SES-28", Program),
    ("LIST-02", Program),
    ("LIST-03", Program),
    ("LIST-04", Program),
    ("LIST-05", Program),
    ("LIST-08", Program),
    ("LIST-09", Program),
    ("LIST-12", Program),
    ("DEL-02", Program),
    ("DEL-03", Program),
    ("PR-03", Program),
    ("PR-04", Program),
    ("PR-05", Below("acp/agent")),
    ("PR-06", Program),
    ("PR-07", Program),
    ("PR-08", Richer),
    ("PR-09", Program),
    ("PR-10", Program),
    ("PR-11", Program),
    ("PR-12", Program),
    ("PR-13", Program),
    ("PR-17", Program),
    ("PR-18", Program),
    ("PR-19", Program),
    ("PR-20", Program),
    ("PR-21", Program),
    ("PR-22", Author("nothing but the client cancels")),
    ("PR-23", Program),
    ("PR-24", Richer),
    ("PLAN-01", Author("the plan is the author's")),
    ("PLAN-02", Richer),
    ("TC-01", Program),
    ("TC-02", Program),
    ("TC-03", Below("acp/schema")),
    ("TC-04", Program),
    ("TC-05", Below("acp/agent")),
    ("TC-06", Author("what a tool call shows is the author's")),
    ("TC-07", Program),
    ("TC-11", Program),
    ("FS-01", Richer),
    ("FS-03", Richer),
    ("FS-06", Below("acp/schema")),
    ("TERM-01", Richer),
    ("TERM-04", Richer),
    ("TERM-10", Richer),
    ("MODE-01", Richer),
    ("MODE-03", Richer),
    ("MODE-04", Richer),
    ("CFG-01", Richer),
    ("CFG-02", Richer),
    ("CFG-03", Richer),
    ("CFG-04", Richer),
    ("CFG-06", Below("acp/schema")),
    ("CFG-09", Richer),
    ("CFG-10", Author("their order is the author's")),
    ("CFG-12", Richer),
    ("CON-01", Below("acp/schema")),
    ("EL-01", Below("acp/agent")),
    ("EL-03", Below("acp/agent")),
    ("EL-04", Below("acp/schema")),
    ("EL-05", Author("it asks through `Turn::client`")),
    ("EL-07", Author("it asks through `Turn::client`")),
    ("EL-08", Author("it asks through `Turn::client`")),
    ("EL-09", Below("acp/agent")),
    ("EL-10", Below("acp/agent")),
    ("EL-11", Author("it asks through `Turn::client`")),
    ("EL-12", Author("it asks through `Turn::client`")),
    ("EL-14", Author("it asks through `Turn::client`")),
    ("EL-16", Below("acp/agent")),
    ("EL-17", Author("it asks through `Turn::client`")),
    ("EL-19", Below("acp/agent")),
    ("NOT-01", Richer),
    ("CMP-01", Below("acp/agent")),
    ("CMP-02", Below("acp/schema")),
];

/// The beginnings of rows' ids.
const FAMILIES: &[&str] = &[
    "tr", "rpc", "init", "auth", "ses", "list", "del", "pr", "plan", "tc", "fs", "term", "mode", "cfg",
    "con", "el", "not", "cmp",
];

/// The ids in the names of all tests of a text: in `tc_01_to_03_pr_07_a_word` there are four.
fn rows(source: &str) -> BTreeSet<String> {
    let mut rows = BTreeSet::new();
    for name in source.split("fn ").skip(1).filter_map(|rest| rest.split('(').next()) {
        let (mut family, mut last, mut is_range) = (None, 0, false);
        for word in name.split('_') {
            match word.parse::<u32>() {
                Ok(number) if word.len() == 2 => {
                    let Some(family) = &family else { continue };
                    let first = if is_range { last + 1 } else { number };
                    rows.extend((first..=number).map(|number| format!("{family}-{number:02}")));
                    (last, is_range) = (number, false);
                }
                _ if word == "to" => is_range = last > 0,
                _ => {
                    family = FAMILIES.contains(&word).then(|| word.to_uppercase());
                    (last, is_range) = (0, false);
                }
            }
        }
    }
    rows
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn every_row_is_shown_where_the_table_says() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = here.join("tests/it");
    let program = rows(&read(&tests, "on_the_wire.rs"));
    let others = ["hands", "options", "sessions", "stored", "tools", "turns"];
    let richer: BTreeSet<_> =
        others.iter().flat_map(|name| rows(&read(&tests, &format!("{name}.rs")))).collect();
    let mut wrong = Vec::new();
    for (row, place) in ROWS {
        let is_there = match place {
            Program => program.contains(*row),
            Richer => richer.contains(*row),
            Below(name) => here.join("../..").join(name).is_dir(),
            Author(why) => !why.is_empty(),
        };
        if !is_there {
            wrong.push(*row);
        }
    }
    assert!(wrong.is_empty(), "no test bears {wrong:?}");
    let table: BTreeSet<_> = ROWS.iter().map(|(row, _)| (*row).to_owned()).collect();
    assert_eq!(table.len(), ROWS.len(), "a row stands twice");
    assert_eq!(program.difference(&table).collect::<Vec<_>>(), [""; 0], "rows that are not in the table");
}

/// The README shows the tested program.
#[test]
fn the_program_is_the_one_of_the_readme() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = read(here, "examples/turn.rs");
    let code: Vec<_> =
        example.lines().skip_while(|line| line.is_empty() || line.starts_with("//!")).collect();
    assert_eq!(code.len(), 25);
    assert!(read(here, "README.md").contains(&format!("```rust,no_run\n{}\n```", code.join("\n"))));
}
