//! Checks of clients: the members of `_meta`.

use crate::check::{ANY, Check, audit};
use crate::mcp_client::McpClient;
use crate::mcp_messages;
use crate::trace::Trace;
use crate::verdict::Outcome;

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    audit!(meta_keys_follow_the_grammar, ANY),
    audit!(meta_keys_keep_to_their_characters, ANY),
    audit!(trace_context_has_the_formats_of_w3c, ANY),
];

fn meta_keys_follow_the_grammar(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::meta_keys_follow_the_grammar(trace)
}

fn meta_keys_keep_to_their_characters(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::meta_keys_keep_to_their_characters(trace)
}

fn trace_context_has_the_formats_of_w3c(_: &McpClient, trace: &Trace) -> Outcome {
    mcp_messages::trace_context_has_the_formats_of_w3c(trace)
}
