//! Checks of servers: `_meta`, and the codes of errors.

use serde_json::Value;

use super::super::Server;
use super::super::exchanges::is_in_revision;
use crate::check::{ANY, Check, audit};
use crate::mcp_messages::{self, sent};
use crate::trace::Trace;
use crate::verdict::{Outcome, ensure};

pub(in super::super) const CHECKS: &[Check<Server>] = &[
    audit!(meta_keys_fit, ANY),
    audit!(meta_keys_keep_to_their_characters, ANY),
    audit!(trace_context_fits, ANY),
    audit!(only_defined_codes, ANY),
];

fn meta_keys_fit(server: &Server, trace: &Trace) -> Outcome {
    in_revision(server, trace, mcp_messages::meta_keys_follow_the_grammar)
}

fn meta_keys_keep_to_their_characters(server: &Server, trace: &Trace) -> Outcome {
    in_revision(server, trace, mcp_messages::meta_keys_keep_to_their_characters)
}

fn trace_context_fits(server: &Server, trace: &Trace) -> Outcome {
    in_revision(server, trace, mcp_messages::trace_context_has_the_formats_of_w3c)
}

fn in_revision(server: &Server, trace: &Trace, rule: fn(&Trace) -> Outcome) -> Outcome {
    if is_in_revision(server, trace) { rule(trace) } else { Ok(()) }
}

fn only_defined_codes(server: &Server, trace: &Trace) -> Outcome {
    in_revision(server, trace, codes_are_defined)
}

fn codes_are_defined(trace: &Trace) -> Outcome {
    for message in sent(trace) {
        let code = message.pointer("/error/code").and_then(Value::as_i64).unwrap_or_default();
        let is_reserved = (-32099..=-32020).contains(&code) && !(-32022..=-32020).contains(&code);
        ensure!(
            !is_reserved && code != -32002,
            "no undefined code from -32099 to -32020, and not -32002",
            "`{message}`"
        );
    }
    Ok(())
}
