//! Known faults of servers and clients in the field, each with the tests that show that it does not
//! exist here. They stand in the crates where the matter is decided; this is the list of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A fault, and its tests: each the file, from the root of the repository, and the function.
struct Row {
    fault: &'static str,
    tests: &'static [(&'static str, &'static str)],
}

const BASE: &str = "crates/mcp/server/tests/it/base.rs";
const SERVER: &str = "crates/mcp/server/tests/it/probes.rs";
const HTTP: &str = "crates/mcp/http/tests/it/server/probes.rs";
const GUARDS: &str = "crates/mcp/http/tests/it/server/guards.rs";
const SESSIONS: &str = "crates/mcp/http/tests/it/server/sessions.rs";

const ROWS: [Row; 19] = [
    Row {
        fault: "a tool panics, and its caller on stdio is never answered and waits for ever",
        tests: &[
            ("crates/mcp/server/tests/it/calls.rs", "a_panic_is_an_internal_error_and_others_go_on"),
            (
                "crates/mcp/client/tests/it/calls.rs",
                "lif_16_and_18_each_call_has_its_time_and_is_cancelled_after_it",
            ),
        ],
    },
    Row {
        fault: "a tool panics, and over HTTP no response comes, or a stream that stays open with nothing on it",
        tests: &[
            (SERVER, "a_panic_is_answered_over_http_in_every_form"),
            ("crates/mcp/http/tests/it/server/inline.rs", "a_panic_ends_only_what_panicked"),
        ],
    },
    Row {
        fault: "a known method with wrong parameters is refused as an unknown method",
        tests: &[(BASE, "rpc_16_wrong_params_are_refused")],
    },
    Row {
        fault: "a body that is not JSON is refused as a wrong media type and not as JSON-RPC has it",
        tests: &[(GUARDS, "body_that_is_not_a_message_gets_an_error")],
    },
    Row {
        fault: "a line of JSON that was cut is passed over in silence",
        tests: &[
            (BASE, "rpc_13_and_14_what_is_no_message_is_answered_and_survived"),
            ("tests/tests/it/clients_that_fail.rs", "garbage_is_answered_and_passed_over"),
        ],
    },
    Row {
        fault: "batches are refused in the revision that has them",
        tests: &[
            (BASE, "rpc_21_a_batch_is_answered_as_one_at_2025_03_26"),
            (SESSIONS, "batches_are_taken_where_the_revision_has_them"),
        ],
    },
    Row {
        fault: "a request in a line over the limit is dropped, and its caller waits for ever",
        tests: &[("tests/tests/it/long_lines.rs", "from_a_client_to_a_server")],
    },
    Row {
        fault: "a body over the limit is refused in plain text",
        tests: &[(HTTP, "a_body_over_the_limit_is_refused_in_json")],
    },
    Row {
        fault: "an answer that is given while the client is away is lost, and its stream resumed as an empty one",
        tests: &[
            (HTTP, "an_answer_that_came_while_the_client_was_away_waits_for_it"),
            (
                "crates/mcp/http/tests/it/server/resumption.rs",
                "a_stream_goes_on_after_the_last_event_that_was_read",
            ),
        ],
    },
    Row {
        fault: "a session is idle while a call runs, and gone it is a server's error instead of not found",
        tests: &[
            (HTTP, "a_session_with_a_call_under_way_is_not_idle"),
            (HTTP, "a_session_that_was_ended_is_not_found_at_once"),
        ],
    },
    Row {
        fault: "a stream that its client does not read stalls everything else in the session, without end",
        tests: &[
            (SERVER, "a_stream_that_nobody_reads_holds_up_its_session_for_a_bounded_time"),
            ("crates/mcp/http/tests/it/server/nasty.rs", "a_client_that_does_not_read_holds_up_only_itself"),
        ],
    },
    Row {
        fault: "pages of any origin may call, unless somebody forbids it",
        tests: &[
            (GUARDS, "foreign_pages_and_foreign_names_are_refused_with_every_method"),
            (
                "crates/mcp/sse/tests/it/server/guards.rs",
                "sse_09_a_foreign_origin_or_host_is_refused_on_both_verbs_and_paths",
            ),
        ],
    },
    Row {
        fault: "a request that was cancelled is answered, or its id stays taken",
        tests: &[
            (SERVER, "an_id_is_free_again_after_its_request_was_cancelled"),
            ("crates/mcp/server/tests/it/calls.rs", "can_03_a_cancelled_tool_stops_and_is_not_answered"),
        ],
    },
    Row {
        fault: "of two requests under one id the second takes the place of the first, which is never answered",
        tests: &[
            (SERVER, "of_two_equal_ids_the_second_is_refused_and_the_first_is_answered"),
            (SESSIONS, "a_request_id_that_is_in_flight_is_refused_and_free_afterwards"),
        ],
    },
    Row {
        fault: "the input ends during a long call, which is given up without an answer",
        tests: &[(SERVER, "running_calls_are_answered_after_the_input_ends_however_long_they_take")],
    },
    Row {
        fault: "a child process that is a wrapper is ended, and what it had started lives on",
        tests: &[
            ("crates/core/stdio/tests/it/shutdown.rs", "grandchildren_go_with_a_close"),
            ("crates/core/stdio/tests/it/shutdown.rs", "grandchildren_go_with_a_drop"),
        ],
    },
    Row {
        fault: "a child process is dropped where no runtime is, which panics and leaves it running",
        tests: &[("crates/core/stdio/tests/it/child.rs", "no_runtime_is_an_error_and_dropping_needs_none")],
    },
    Row {
        fault: "what a server offers is put together anew for each call",
        tests: &[(SERVER, "offered_items_are_assembled_once_and_not_for_each_call")],
    },
    Row {
        fault: "sessions that were opened and ended leave memory behind",
        tests: &[(
            "crates/mcp/http/tests/it/server/crowd.rs",
            "an_idle_session_is_small_and_goes_without_a_trace",
        )],
    },
];

#[test]
fn each_fault_has_a_test_and_each_test_made_for_one_is_named() {
    let mut named = BTreeSet::new();
    for Row { fault, tests } in ROWS {
        assert!(!tests.is_empty(), "nothing shows that it does not happen here: {fault}");
        for (file, name) in tests {
            let there = tests_of(&root().join(file));
            assert!(there.contains(*name), "{file} has no test `{name}`, for: {fault}");
            named.insert(((*file).to_owned(), (*name).to_owned()));
        }
    }
    let faults: BTreeSet<_> = ROWS.iter().map(|row| row.fault).collect();
    assert_eq!(faults.len(), ROWS.len(), "a fault is listed twice");
    for file in [SERVER, HTTP] {
        for name in tests_of(&root().join(file)) {
            let is_named = named.contains(&(file.to_owned(), name.clone()));
            assert!(is_named, "{file}: `{name}` was made for a fault that is not in the list");
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names of the tests in a file that is compiled into the tests of its package.
fn tests_of(file: &Path) -> BTreeSet<String> {
    let module = file.file_stem().expect("it is a file").to_string_lossy().into_owned();
    let beside = ["main.rs", "mod.rs"].map(|name| file.with_file_name(name));
    let parent = beside.iter().find_map(|parent| fs::read_to_string(parent).ok());
    let parent = parent.unwrap_or_else(|| panic!("{} belongs to nothing", file.display()));
    let is_part =
        parent.lines().any(|line| line.trim_start_matches("pub(crate) ") == format!("mod {module};"));
    assert!(is_part, "{} is not compiled", file.display());

    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut names = BTreeSet::new();
    let mut marked = false;
    for line in text.lines() {
        if line.starts_with("#[test") || line.starts_with("#[tokio::test") {
            marked = true;
        } else if let Some(rest) = line.trim_start_matches("async ").strip_prefix("fn ")
            && std::mem::take(&mut marked)
        {
            names.extend(rest.split('(').next().map(str::to_owned));
        }
    }
    names
}
