//! A difference between a recording and its replay.

use std::fmt;

use agentwire_jsonrpc::Printable;
use serde::Serialize;
use serde_json::Value;

use crate::shown::Shown;

/// The kind of a [`Difference`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DifferenceKind {
    /// A value differs, or only one of the two messages has it.
    Changed,
    /// A recorded message did not arrive.
    Missing,
    /// A message arrived that was not recorded.
    Unexpected,
    /// A request or notification arrived after one that follows it in the recording.
    Order,
}

/// A difference between what was recorded and what the live side sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The kind.
    pub kind: DifferenceKind,
    /// The number of the recorded event, from 1, without the header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<usize>,
    /// The method; of a response, the method of its request.
    pub method: String,
    /// The JSON Pointer of the value within the message.
    pub pointer: String,
    /// The recorded value; `None` if nothing was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Value>,
    /// The value of the live side; `None` if nothing arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Value>,
}

impl Difference {
    /// Whether another difference has the same kind, method and pointer.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.kind, &self.method, &self.pointer) == (other.kind, &other.method, &other.pointer)
    }
}

impl fmt::Display for Difference {
    /// A line for a terminal: text of the peer is escaped, and long values are cut.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, event, method, pointer, recorded, seen } = self;
        if let Some(event) = event {
            write!(f, "event {event}: ")?;
        }
        let method = Printable::one_line(method);
        let method =
            if method.is_plain() && self.method.is_empty() { "a message".into() } else { method.to_string() };
        match kind {
            DifferenceKind::Changed if pointer.is_empty() => {
                write!(f, "{method}: recorded {}, seen {}", ShownValue(recorded), ShownValue(seen))
            }
            DifferenceKind::Changed => {
                let pointer = Printable::one_line(pointer);
                write!(f, "{method} {pointer}: recorded {}, seen {}", ShownValue(recorded), ShownValue(seen))
            }
            DifferenceKind::Missing => write!(f, "{method} is missing: recorded {}", ShownValue(recorded)),
            DifferenceKind::Unexpected => write!(f, "{method} is not recorded: seen {}", ShownValue(seen)),
            DifferenceKind::Order => write!(f, "{method} comes later than recorded"),
        }
    }
}

struct ShownValue<'a>(&'a Option<Value>);

impl fmt::Display for ShownValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => Shown(&value.to_string()).fmt(f),
            None => f.write_str("nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_difference_cannot_control_a_terminal() {
        let text = "\u{1b}[2J\u{202e}\n".repeat(1000);
        let difference = Difference {
            kind: DifferenceKind::Changed,
            event: Some(3),
            method: text.clone(),
            pointer: format!("/params/{text}"),
            recorded: Some(Value::from(text.clone())),
            seen: None,
        };
        for kind in [
            DifferenceKind::Changed,
            DifferenceKind::Missing,
            DifferenceKind::Unexpected,
            DifferenceKind::Order,
        ] {
            let line = Difference { kind, ..difference.clone() }.to_string();
            assert!(!line.contains(['\u{1b}', '\u{202e}', '\n']), "{line}");
        }
    }
}
