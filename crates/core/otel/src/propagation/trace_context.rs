//! Parses and writes W3C Trace Context, in members of `_meta` and HTTP headers. The SDK has a propagator, but this crate uses only the
//! API.

use std::str::FromStr;

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

pub(crate) const TRACEPARENT: &str = "traceparent";
pub(crate) const TRACESTATE: &str = "tracestate";

/// The length of a `traceparent` of version 00.
const LENGTH: usize = 55;

/// The maximum length of a `tracestate` that is kept. W3C requires at least 512 characters.
const STATE_LIMIT: usize = 512;

/// Parses a `traceparent` by <https://www.w3.org/TR/trace-context/#versioning-of-traceparent>. A `tracestate` that is malformed or too
/// long is left out.
pub(crate) fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<SpanContext> {
    let known = traceparent.get(..LENGTH)?;
    let is_form = known.bytes().enumerate().all(|(index, byte)| match index {
        2 | 35 | 52 => byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    });
    let more = &traceparent[LENGTH..];
    let is_version = match &known[..2] {
        "00" => more.is_empty(),
        "ff" => false,
        _ => more.is_empty() || more.starts_with('-'),
    };
    if !is_form || !is_version {
        return None;
    }
    let trace = TraceId::from_hex(&known[3..35]).ok()?;
    let span = SpanId::from_hex(&known[36..52]).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(&known[53..], 16).ok()?) & TraceFlags::SAMPLED;
    let state = tracestate.filter(|state| state.len() <= STATE_LIMIT);
    let state = state.and_then(|state| TraceState::from_str(state).ok()).unwrap_or_default();
    let context = SpanContext::new(trace, span, flags, true, state);
    context.is_valid().then_some(context)
}

/// The `traceparent` of a span, and its `tracestate` if it has one.
pub(crate) fn format(span: &SpanContext) -> (String, Option<String>) {
    let sampled = span.trace_flags() & TraceFlags::SAMPLED;
    let parent = format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), sampled.to_u8());
    let state = span.trace_state().header();
    (parent, Some(state).filter(|state| !state.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn trace_context_survives_a_round_trip() {
        let context = parse(PARENT, Some("a=1,b=2")).unwrap();
        assert!(context.is_sampled() && context.is_remote());
        assert_eq!(format(&context), (PARENT.into(), Some("a=1,b=2".into())));
    }

    #[test]
    fn malformed_trace_context_is_dropped() {
        let later = PARENT.replacen("00", "01", 1);
        for (text, is_valid) in [
            (PARENT.to_owned(), true),
            (format!("{PARENT}-"), false),
            (later.clone(), true),
            (format!("{later}-more"), true),
            (format!("{later}more"), false),
            (PARENT.replacen("00", "ff", 1), false),
            (PARENT.to_uppercase(), false),
            (PARENT.replace("b7ad6b7169203331", "0000000000000000"), false),
            (PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)), false),
            (PARENT[..54].to_owned(), false),
            ("é".repeat(40), false),
            (String::new(), false),
        ] {
            assert_eq!(parse(&text, None).is_some(), is_valid, "{text}");
        }
    }

    #[test]
    fn malformed_or_long_tracestate_is_left_out() {
        let long = format!("a={}", "1".repeat(STATE_LIMIT));
        for state in ["no pair", &long] {
            assert_eq!(format(&parse(PARENT, Some(state)).unwrap()).1, None);
        }
    }
}
