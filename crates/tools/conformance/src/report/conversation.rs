//! A conversation as lines that can be shown: escaped and bounded.

use agentwire_jsonrpc::Printable;

use super::limit::{FIRST_STEPS, more};
use super::results::CheckResult;
use crate::trace::{Part, Sender, TraceEvent};

/// One step of a conversation, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// Milliseconds since the check began.
    pub(super) at: u128,
    /// `→` for what the suite sends, `←` for what the subject sends.
    pub(super) arrow: &'static str,
    /// The kind of the step, in a word.
    pub(super) kind: &'static str,
    /// Its text, escaped; without line feeds but those of an HTTP head or an event.
    pub(super) text: String,
}

/// The steps of a result's conversation. A step in the middle counts those that are left out.
pub(super) fn steps(result: &CheckResult) -> Vec<Step> {
    let mut steps: Vec<Step> = result.trace.iter().map(step).collect();
    if result.left_out > 0 {
        let at = FIRST_STEPS.min(steps.len());
        steps.insert(at, note(format!("({} steps left out)", result.left_out)));
    }
    if result.omitted > 0 {
        steps.push(note(format!("({} steps were too long to keep)", result.omitted)));
    }
    steps
}

fn note(text: String) -> Step {
    Step { at: 0, arrow: " ", kind: "", text }
}

fn step(event: &TraceEvent) -> Step {
    let kind = match event.what {
        Part::Line => "",
        Part::Head => "head",
        Part::Body => "body",
        Part::Event => "event",
        Part::TextFrame => "frame",
        Part::BinaryFrame => "binary frame",
        Part::Stderr => "stderr",
        Part::End => "end of",
    };
    let arrow = match event.from {
        Sender::Suite => "→",
        Sender::Subject => "←",
    };
    Step { at: event.at.as_millis(), arrow, kind, text: shown(event) }
}

/// Bytes as text. Escapes invalid UTF-8 and control characters.
fn shown(event: &TraceEvent) -> String {
    let text = String::from_utf8_lossy(&event.bytes);
    let mut text = Printable::new(text.trim_end_matches(['\n', '\r'])).to_string();
    if event.cut > 0 {
        text.push_str(&more(event.cut));
    }
    text
}
