//! A conversation as lines that can be shown: escaped and bounded.

use agentwire_jsonrpc::Printable;

use super::results::CheckResult;
use crate::trace::{Part, Sender, TraceEvent};

/// How many bytes of one step are shown.
const MAX_STEP: usize = 2000;
/// How many steps are shown; the first few and the last ones say most.
const MAX_STEPS: usize = 60;
/// How many of them are the first.
const FIRST_STEPS: usize = 10;

/// One step of a conversation, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// Milliseconds since the check began.
    pub(super) at: u128,
    /// `→` for what the suite sends, `←` for what the subject sends.
    pub(super) arrow: &'static str,
    /// What it is, in a word.
    pub(super) kind: &'static str,
    /// Its text, escaped; without line feeds but those of an HTTP head or an event.
    pub(super) text: String,
}

/// The steps of a result's conversation. A step in the middle says how many are left out.
pub(super) fn steps(result: &CheckResult) -> Vec<Step> {
    let all = &result.trace;
    let mut steps: Vec<Step> = Vec::new();
    if all.len() <= MAX_STEPS {
        steps.extend(all.iter().map(step));
    } else {
        steps.extend(all.iter().take(FIRST_STEPS).map(step));
        steps.push(note(format!("({} steps left out)", all.len() - MAX_STEPS)));
        steps.extend(all.iter().skip(all.len() - (MAX_STEPS - FIRST_STEPS)).map(step));
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
    Step { at: event.at.as_millis(), arrow, kind, text: shown(&event.bytes) }
}

/// Bytes as text: what is no UTF-8 and what would control a terminal is escaped; what is too long is cut.
pub(super) fn shown(bytes: &[u8]) -> String {
    let cut = bytes.len().saturating_sub(MAX_STEP);
    let kept = &bytes[..bytes.len() - cut];
    let text = String::from_utf8_lossy(kept);
    let text = Printable::new(text.trim_end_matches(['\n', '\r'])).to_string();
    if cut > 0 { format!("{text}… ({cut} more bytes)") } else { text }
}
