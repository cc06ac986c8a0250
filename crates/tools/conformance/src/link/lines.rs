//! The lines that a program writes: messages, broken messages, and everything else.

use serde_json::Value;

use crate::trace::{Part, Sender, Trace};

/// The lines of a program that are not one message each.
#[derive(Debug, Default)]
pub(crate) struct OddLines {
    /// Messages over several lines, and lines of several messages.
    pub(crate) broken: Vec<String>,
    /// Text outside of messages.
    pub(crate) other: Vec<String>,
}

/// Sorts the lines that a program wrote. A message that is cut off, because the program was ended, is neither.
pub(crate) fn odd_lines(trace: &Trace) -> OddLines {
    let events = trace.events().into_iter();
    let of_subject = events.filter(|event| event.from == Sender::Subject && event.what == Part::Line);
    sort(&of_subject.map(|event| event.bytes).collect::<Vec<_>>())
}

fn sort(lines: &[Vec<u8>]) -> OddLines {
    let mut odd = OddLines::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let text = || String::from_utf8_lossy(line).into_owned();
        at += 1;
        match values(line) {
            Ok(values) if values.iter().all(is_message) => {
                if values.len() > 1 {
                    odd.broken.push(text());
                }
            }
            Err(error) if error.is_eof() => {
                if let Some(count) = lines_of_message(&lines[at - 1..]) {
                    odd.broken.push(text());
                    at += count - 1;
                }
            }
            Ok(_) | Err(_) => odd.other.push(text()),
        }
    }
    odd
}

fn values(text: &[u8]) -> serde_json::Result<Vec<Value>> {
    serde_json::Deserializer::from_slice(text).into_iter().collect()
}

/// The number of lines over which a message goes from the first line on.
fn lines_of_message(lines: &[Vec<u8>]) -> Option<usize> {
    let mut text = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        text.extend_from_slice(line);
        match values(&text) {
            Ok(values) => return values.iter().all(is_message).then_some(at + 1),
            Err(error) if error.is_eof() => {}
            Err(_) => return None,
        }
    }
    None
}

/// Whether a value is meant as a message of JSON-RPC, or as a batch of them.
fn is_message(value: &Value) -> bool {
    let has_outcome = || ["method", "result", "error"].iter().any(|name| value.get(name).is_some());
    match value {
        Value::Array(batch) => !batch.is_empty() && batch.iter().all(is_message),
        value => value.get("jsonrpc").is_some() || value.get("id").is_some() && has_outcome(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_of_one_kind() {
        let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let twice = format!("{message}{message}");
        let lines = [
            message,
            "",
            "{",
            r#"  "jsonrpc": "2.0", "method": "#,
            r#"  "ping""#,
            "}",
            &twice,
            "[INFO] starting",
            r#"{"level":"info"}"#,
            "{not JSON}",
            "7",
            r#"{"jsonrpc":"2.0","id":"#,
        ];
        let odd = sort(&lines.map(|line| line.as_bytes().to_vec()));
        assert_eq!(odd.broken, ["{", twice.as_str()]);
        assert_eq!(odd.other, ["[INFO] starting", r#"{"level":"info"}"#, "{not JSON}", "7"]);
    }
}
