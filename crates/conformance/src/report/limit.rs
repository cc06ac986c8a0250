//! How much of a subject's text and bytes a report keeps.

use crate::trace::{Trace, TraceEvent};

/// How many bytes of a verdict's text, and of one step of a conversation, are kept: 4 KiB.
pub(super) const MAX_TEXT: usize = 4 << 10;
/// How many bytes of a subject's name and version are kept.
pub(super) const MAX_NAME: usize = 256;
/// How many steps of a conversation are kept. The first few and the last ones say most.
const MAX_STEPS: usize = 60;
/// How many of them are the first.
pub(super) const FIRST_STEPS: usize = 10;

/// A text cut to some bytes, with a mark that counts the rest.
pub(super) fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let rest = more(text.len() - end);
        text.truncate(end);
        text.push_str(&rest);
    }
    text
}

/// The mark for what is cut.
pub(super) fn more(bytes: usize) -> String {
    format!("… ({bytes} bytes more)")
}

/// The steps of a conversation that are kept, each without secrets and cut, and how many after the first few are left out.
pub(super) fn cut_trace(trace: &Trace) -> (Vec<TraceEvent>, usize) {
    let mut events = trace.events();
    let left_out = events.len().saturating_sub(MAX_STEPS);
    if left_out > 0 {
        events.drain(FIRST_STEPS..FIRST_STEPS + left_out);
    }
    for event in &mut events {
        // A secret that is cut would not be found.
        trace.secrets().hide_in(&mut event.bytes);
        event.cut = event.bytes.len().saturating_sub(MAX_TEXT);
        event.bytes.truncate(MAX_TEXT);
        event.bytes.shrink_to_fit();
    }
    (events, left_out)
}
