//! Tests of the parts with real files and processes, and of the whole client with agents of this program.
#![cfg(unix)]

#[cfg(feature = "v2")]
mod agent_terminals;
mod conversations;
mod earlier_fields;
mod early_updates;
#[path = "../../../agent/examples/echo_agent.rs"]
#[allow(dead_code, unreachable_pub, reason = "an example has a main function")]
mod echo_agent;
mod elicitations;
mod files;
#[path = "../../examples/full_client.rs"]
#[allow(dead_code, unreachable_pub, reason = "an example has a main function")]
mod full_client;
mod host;
#[path = "../../examples/host.rs"]
#[allow(dead_code, unreachable_pub, reason = "an example has a main function")]
mod host_example;
mod permissions;
mod supervised;
mod terminals;
mod toolkit;
#[cfg(feature = "v2")]
mod version_2;
mod workspaces;

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::error_code::{INVALID_PARAMS, RESOURCE_NOT_FOUND};

/// Checks the code of an error, and that its message contains the words.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, code: i64, words: &[&str]) {
    let error = result.expect_err("must be refused");
    assert_eq!(error.code, code, "{error}");
    for word in words {
        assert!(error.message.contains(word), "{error} does not contain {word:?}");
    }
}

#[track_caller]
fn invalid<T: std::fmt::Debug>(result: Result<T, Error>, words: &[&str]) {
    refused(result, INVALID_PARAMS, words);
}

#[track_caller]
fn missing<T: std::fmt::Debug>(result: Result<T, Error>, words: &[&str]) {
    refused(result, RESOURCE_NOT_FOUND, words);
}
