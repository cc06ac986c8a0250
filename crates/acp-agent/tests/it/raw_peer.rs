//! A peer that plays a transcript. It writes and reads lines of bytes and knows none of our types, so that it
//! cannot share their mistakes.
//!
//! A transcript has one step a line:
//!
//! | line | step |
//! |---|---|
//! | `# …` | for the reader |
//! | `> …` | the peer sends the text; what stands on lines that follow one another goes out in one write |
//! | `< …` | we must send this next |
//! | `~` | we must stay silent |
//!
//! In what we must send `"*"` stands for any value, a `*` within a string for any text, `"...": 0` in an object for
//! any further members, and `"$name"` for any value the first time and for the same value from then on, also where
//! the peer sends it. Everything else must be as it stands there; nothing else may come before the end.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// How long the peer waits for a message, and how long silence must last; on a clock that is paused.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays a transcript over our end of a wire, closes it, and sees that nothing else comes.
pub(crate) async fn play(transcript: &str, wire: DuplexStream) -> Result<(), String> {
    let (read, write) = tokio::io::split(wire);
    let mut peer = RawPeer { lines: BufReader::new(read).lines(), write, bound: Bound::default() };
    let mut unsent = String::new();
    for (number, line) in (1..).zip(transcript.lines()) {
        let (step, text) = line.split_at_checked(1).unwrap_or(("#", ""));
        if step != ">" {
            peer.send(&std::mem::take(&mut unsent)).await;
        }
        let done = match step {
            "#" => Ok(()),
            ">" => {
                unsent.push_str(&peer.bound.fill_in(text.trim_start()));
                unsent.push('\n');
                Ok(())
            }
            "<" => peer.expect(text.trim_start()).await,
            "~" => peer.expect_silence().await,
            _ => Err("a step begins with #, >, < or ~".into()),
        };
        done.map_err(|why| format!("line {number}: {why}"))?;
    }
    peer.send(&unsent).await;
    peer.close().await.map_err(|why| format!("at the end: {why}"))
}

struct RawPeer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    bound: Bound,
}

impl RawPeer {
    async fn send(&mut self, text: &str) {
        // If we do not read any more, what the transcript expects next will not come, and that is reported.
        let _written = self.write.write_all(text.as_bytes()).await;
    }

    /// The next message from us; none when we stay silent or close.
    async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.ok()?;
        let line = line.expect("a pipe in memory does not fail")?;
        Some(serde_json::from_str(&line).unwrap_or_else(|why| panic!("not JSON: {why}: {line}")))
    }

    async fn expect(&mut self, text: &str) -> Result<(), String> {
        let expected: Value = serde_json::from_str(text).map_err(|why| format!("not JSON: {why}"))?;
        let Some(actual) = self.next().await else {
            return Err(format!("nothing came\n  expected {expected}"));
        };
        if self.bound.matches(&expected, &actual) {
            Ok(())
        } else {
            Err(format!("another message came\n  expected {expected}\n  came     {actual}"))
        }
    }

    async fn expect_silence(&mut self) -> Result<(), String> {
        self.next().await.map_or(Ok(()), |actual| Err(format!("expected silence\n  came {actual}")))
    }

    async fn close(mut self) -> Result<(), String> {
        self.write.shutdown().await.expect("a pipe in memory does not fail");
        self.expect_silence().await
    }
}

/// What the names in a transcript stand for.
#[derive(Default)]
struct Bound(BTreeMap<String, Value>);

impl Bound {
    fn fill_in(&self, text: &str) -> String {
        let fill_in = |text: String, (name, value): (&String, &Value)| {
            text.replace(&format!("\"{name}\""), &value.to_string())
        };
        self.0.iter().fold(text.to_owned(), fill_in)
    }

    fn matches(&mut self, expected: &Value, actual: &Value) -> bool {
        match (expected, actual) {
            (Value::String(name), actual) if name.starts_with('$') => {
                self.0.entry(name.clone()).or_insert_with(|| actual.clone()) == actual
            }
            (Value::String(any), _) if any == "*" => true,
            (Value::String(pattern), Value::String(text)) => fits(pattern, text),
            (Value::Array(expected), Value::Array(actual)) => {
                expected.len() == actual.len()
                    && expected.iter().zip(actual).all(|(expected, actual)| self.matches(expected, actual))
            }
            (Value::Object(expected), Value::Object(actual)) => {
                let more = expected.contains_key("...");
                (more || expected.len() == actual.len())
                    && expected.iter().filter(|(key, _)| *key != "...").all(|(key, expected)| {
                        actual.get(key).is_some_and(|actual| self.matches(expected, actual))
                    })
            }
            (expected, actual) => expected == actual,
        }
    }
}

/// Whether `text` is `pattern`, in which a `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| fits(after, &rest[at..]))
        }),
    }
}

/// A test that cannot fail would be worse than none.
#[test]
fn expectations_can_fail() {
    let matches = |expected: &str, actual: &str| {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        Bound::default().matches(&read(expected), &read(actual))
    };
    assert!(matches(r#"{"a":"*","b":["x*z"]}"#, r#"{"b":["xyz"],"a":null}"#));
    assert!(!matches(r#"{"a":"x*z"}"#, r#"{"a":"xy"}"#));
    assert!(!matches(r#"{"a":1}"#, r#"{"a":1,"b":2}"#), "no member more");
    assert!(!matches(r#"{"a":1,"b":"*"}"#, r#"{"a":1}"#), "and none less");
    assert!(matches(r#"{"a":1,"...":0}"#, r#"{"a":1,"b":2}"#));
    assert!(!matches(r#"{"a":2,"...":0}"#, r#"{"a":1,"b":2}"#));
    assert!(!matches("1", r#""1""#), "1 is not \"1\"");
    assert!(!matches("[1]", "[1,2]"));
    assert!(matches(r#"["$x","$x"]"#, "[7,7]"));
    assert!(!matches(r#"["$x","$x"]"#, "[7,8]"));
}
