//! Rules for every message of a client.

use crate::check::{ANY, Check, audit};
use crate::mcp_client::McpClient;
use crate::mcp_messages;
use crate::trace::Trace;
use crate::verdict::Outcome;

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    audit!(each_message_has_the_version, ANY),
    audit!(ids_are_strings_or_integers, ANY),
    audit!(responses_have_a_result_or_an_error, ANY),
    audit!(errors_have_their_members, ANY),
    audit!(codes_are_integers, ANY),
    audit!(notifications_have_no_id, ANY),
];

fn each_message_has_the_version(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::have_the_version(trace)
}

fn ids_are_strings_or_integers(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::ids_are_strings_or_integers(trace)
}

fn responses_have_a_result_or_an_error(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::responses_have_a_result_or_an_error(trace)
}

fn errors_have_their_members(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::errors_have_their_members(trace)
}

fn codes_are_integers(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::codes_are_integers(trace)
}

fn notifications_have_no_id(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::notifications_have_no_id(trace)
}
