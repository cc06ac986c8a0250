//! How much of a subject's text and bytes a report keeps.

use std::sync::Arc;

use agentwire_jsonrpc::Printable;

use crate::secrets::Secrets;
use crate::trace::{Sender, Trace, TraceEvent};

/// How many bytes of a verdict's text, and of one step of a conversation, are kept: 4 KiB.
pub(super) const MAX_TEXT: usize = 4 << 10;
/// How many bytes of a subject's name and version are kept.
const MAX_NAME: usize = 256;
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

/// How many characters of a subject's text a line of a terminal and a cell of a table show. The other reports have more.
const MAX_LINE: usize = 300;

/// The beginning of a text on one line.
pub(super) fn beginning(text: &str) -> String {
    let shown = Printable::one_line(text).to_string();
    match shown.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

/// The mark for what is cut.
pub(super) fn more(bytes: usize) -> String {
    format!("… ({bytes} bytes more)")
}

/// The part of a conversation that reports keep. Results of the same conversation share one.
#[derive(Debug, Clone)]
pub(crate) struct Excerpt {
    pub(super) secrets: Secrets,
    /// The name and version that the subject gives itself.
    pub(super) subject: Option<String>,
    /// The first steps and the last ones, without secrets and cut.
    pub(super) steps: Arc<[TraceEvent]>,
    /// How many steps were too long to keep.
    pub(super) omitted: usize,
    /// How many steps after the first few are left out.
    pub(super) left_out: usize,
}

impl Excerpt {
    /// Cuts a conversation.
    pub(crate) fn of(trace: &Trace) -> Self {
        let secrets = trace.secrets().clone();
        let subject = subject_in(trace).map(|name| cut(secrets.hide(name), MAX_NAME));
        let (steps, left_out) = cut_trace(trace);
        Self { secrets, subject, steps: steps.into(), omitted: trace.omitted(), left_out }
    }
}

/// The name and version of a subject in a conversation.
fn subject_in(trace: &Trace) -> Option<String> {
    const PLACES: &[&str] = &[
        "/result/serverInfo",
        "/result/_meta/io.modelcontextprotocol~1serverInfo",
        "/result/agentInfo",
        "/result/info",
        "/params/clientInfo",
        "/params/_meta/io.modelcontextprotocol~1clientInfo",
        "/params/info",
    ];
    trace.messages(Sender::Subject).iter().find_map(|message| {
        let info = PLACES.iter().find_map(|place| message.pointer(place))?;
        Some(format!("{} {}", info["name"].as_str()?, info["version"].as_str().unwrap_or_default()))
    })
}

fn cut_trace(trace: &Trace) -> (Vec<TraceEvent>, usize) {
    let (mut events, left_out) = trace.ends(FIRST_STEPS, MAX_STEPS);
    for event in &mut events {
        // A secret that is cut would not be found.
        trace.secrets().hide_in(&mut event.bytes);
        event.cut = event.bytes.len().saturating_sub(MAX_TEXT);
        event.bytes.truncate(MAX_TEXT);
        event.bytes.shrink_to_fit();
    }
    (events, left_out)
}
