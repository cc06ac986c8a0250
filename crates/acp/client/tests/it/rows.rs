//! The tests of each demand of the protocol: the rows that bind a client and can be seen on the wire, under the ids
//! that the project gives them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::script::{folder, read};

/// Rows, and where they are shown: a function of this program as `file::function`; a file of another crate's tests as
/// `crate/file`, where the row is that crate's to keep; a sentence, where it is up to the program that uses this crate.
const ROWS: &[(&str, &str)] = &[
    // Transport and JSON-RPC. What every script and every conversation is checked for has no test of its own: each
    // message of ours is held to the schema, and nothing but the messages of the script may come.
    ("TR-01", "core/jsonrpc/line"),
    ("TR-02", "core/jsonrpc/frame"),
    ("TR-04", "requests::rpc_odd_messages_from_the_agent"),
    ("TR-05", "core/stdio/child"),
    ("TR-06", "requests::rpc_odd_messages_from_the_agent"),
    ("TR-07", "ends::a_program_that_dies_says_why"),
    ("TR-08", "whole::a_whole_conversation"),
    ("RPC-01", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-02", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-03", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-04", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-05", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-06", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-07", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-08", "whole::a_whole_conversation"),
    ("RPC-09", "whole::a_whole_conversation"),
    ("RPC-10", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-11", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-12", "requests::rpc_odd_messages_from_the_agent"),
    ("RPC-13", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("RPC-14", "acp/toolkit/files"),
    ("RPC-15", "handshake::rpc_15_meta_is_kept"),
    ("RPC-16", "Whoever puts something into `_meta` keeps to it."),
    ("RPC-17", "Whoever advertises something of their own puts it into `_meta`."),
    ("RPC-18", "Whoever asks for something of their own looks first whether it was advertised."),
    ("RPC-19", "acp/schema/leniency"),
    ("RPC-20", "acp/schema/leniency"),
    ("RPC-21", "acp/schema/leniency"),
    // Initialization and authentication.
    ("INIT-01", "handshake::init_01_initialize_comes_first"),
    ("INIT-02", "handshake::init_01_initialize_comes_first"),
    ("INIT-03", "rules::init_03_the_version_is_ours"),
    ("INIT-04", "handshake::init_01_initialize_comes_first"),
    ("INIT-08", "handshake::init_08_a_version_that_we_do_not_speak"),
    ("INIT-10", "rules::init_10_a_version_is_a_whole_number"),
    ("INIT-11", "whole::a_whole_conversation"),
    ("INIT-12", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("INIT-13", "handshake::init_12_what_the_agent_offers_is_sent"),
    ("INIT-14", "handshake::init_01_initialize_comes_first"),
    ("AUTH-01", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("AUTH-03", "handshake::auth_03_and_12_only_methods_of_the_agent"),
    ("AUTH-08", "Whoever started the agent's program starts it again, in a terminal."),
    ("AUTH-09", "rules::auth_09_an_agent_that_wants_a_login_in_between"),
    ("AUTH-12", "handshake::auth_03_and_12_only_methods_of_the_agent"),
    // Sessions.
    ("SES-01", "handshake::init_01_initialize_comes_first"),
    ("SES-03", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("SES-05", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("SES-06", "handshake::init_12_what_the_agent_offers_is_sent"),
    ("SES-10", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("SES-11", "handshake::init_12_what_the_agent_offers_is_sent"),
    ("SES-13", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("SES-16", "handshake::init_12_what_the_agent_offers_is_sent"),
    ("SES-17", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("SES-18", "Whoever takes up a session names its roots again: a client that has just begun knows none."),
    ("SES-23", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("SES-25", "rules::ses_25_mcp_servers_that_can_be_found"),
    ("SES-27", "rules::ses_25_mcp_servers_that_can_be_found"),
    ("SES-29", "updates::ses_29_updates_before_the_session_is_known"),
    ("LIST-01", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("LIST-06", "rules::list_06_and_07_all_pages"),
    ("LIST-07", "rules::list_06_and_07_all_pages"),
    ("LIST-11", "acp/toolkit/conversations"),
    ("DEL-01", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    // Turns, tool calls and permissions.
    ("PR-01", "handshake::init_01_initialize_comes_first"),
    ("PR-02", "handshake::init_12_what_the_agent_lacks_is_refused_here"),
    ("PR-15", "turns::pr_15_permissions_end_with_the_turn"),
    ("PR-16", "streams::pr_16_a_cancelled_turn_is_read_to_its_end"),
    ("PR-21", "turns::pr_21_a_permission_request_is_cancelled"),
    ("PR-22", "requests::files_and_terminals"),
    ("PR-23", "requests::rpc_odd_messages_from_the_agent"),
    ("PLAN-03", "acp/toolkit/conversations"),
    ("TC-03", "acp/toolkit/conversations"),
    ("TC-08", "rules::tc_08_only_options_that_were_offered"),
    ("TC-10", "acp/toolkit/permissions"),
    ("TC-12", "updates::fwd_01_unknown_is_passed_on_whole"),
    // Files and terminals.
    ("FS-02", "acp/toolkit/files"),
    ("FS-04", "acp/toolkit/files"),
    ("FS-05", "acp/toolkit/files"),
    ("FS-06", "requests::files_and_terminals"),
    ("FS-07", "requests::files_and_terminals"),
    ("TERM-02", "acp/toolkit/terminals"),
    ("TERM-03", "acp/toolkit/terminals"),
    ("TERM-05", "acp/toolkit/terminals"),
    ("TERM-06", "acp/toolkit/terminals"),
    ("TERM-07", "acp/toolkit/terminals"),
    ("TERM-08", "acp/toolkit/terminals"),
    ("TERM-11", "requests::files_and_terminals"),
    ("TERM-12", "acp/toolkit/terminals"),
    // Modes, options, content, elicitation, compaction.
    ("MODE-02", "rules::mode_02_only_modes_that_the_session_listed"),
    ("CFG-05", "rules::cfg_05_and_07_only_values_that_the_session_listed"),
    ("CFG-06", "rules::cfg_05_and_07_only_values_that_the_session_listed"),
    ("CFG-07", "rules::cfg_05_and_07_only_values_that_the_session_listed"),
    ("CFG-08", "Whoever shows modes and options chooses between them."),
    ("CON-01", "acp/schema/messages"),
    ("EL-02", "requests::el_02_and_13_elicitation"),
    ("EL-05", "acp/toolkit/elicitations"),
    ("EL-10", "acp/schema/messages"),
    ("EL-13", "rules::el_13_only_visits_that_are_open_are_completed"),
    ("EL-18", "requests::el_02_and_13_elicitation"),
    ("CMP-02", "acp/toolkit/conversations"),
    ("FWD-01", "updates::fwd_01_updates_that_nobody_knows"),
];

/// A table that lies would be worse than none: every test that it names is there, and bears the row's id in its name, its
/// explanation or its script.
#[test]
fn every_row_is_where_the_table_says() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut seen = BTreeSet::new();
    for (row, place) in ROWS {
        assert!(seen.insert(row), "{row} is there twice");
        if let Some((file, function)) = place.split_once("::") {
            let source = fs::read_to_string(tests.join(format!("it/{file}.rs"))).unwrap();
            let test = test_named(&source, function);
            let test = test.unwrap_or_else(|| panic!("{row}: there is no test {place}"));
            let paths = test.split('"').map(|name| folder("acp-client").join(format!("{name}.jsonl")));
            let mut scripts = paths.filter(|path| path.exists()).map(|path| read(&path));
            let name = row.to_lowercase().replace('-', "_");
            let bears = test.contains(row)
                || test.contains(&name)
                || scripts.any(|script| script.requirements.iter().any(|named| named == row));
            assert!(bears, "{row}: {place} does not bear its id");
        } else if let Some((crate_name, file)) = place.rsplit_once('/').filter(|_| !place.contains(' ')) {
            let path = tests.join(format!("../../../{crate_name}/tests/it/{file}.rs"));
            assert!(path.exists(), "{row}: there is no {}", path.display());
        } else {
            assert!(place.ends_with('.'), "{row}: {place} is no place and no sentence");
        }
    }
}

/// A test with its explanation.
fn test_named<'a>(source: &'a str, function: &str) -> Option<&'a str> {
    let name = source.find(&format!("fn {function}("))?;
    let begin = source[..name].rfind("\n\n").map_or(0, |at| at + 2);
    let end = source[name..].find("\n}\n").map_or(source.len(), |at| name + at);
    Some(&source[begin..end])
}

/// A test that cannot fail would be worse than none.
#[test]
fn tests_are_found_by_name() {
    let source = "//! File.\n\n/// One.\nfn one() {\n\n    two();\n}\n\n/// Two.\nfn two() {\n}\n";
    assert_eq!(test_named(source, "one"), Some("/// One.\nfn one() {\n\n    two();"));
    assert_eq!(test_named(source, "two"), Some("/// Two.\nfn two() {"));
    assert_eq!(test_named(source, "three"), None);
}
