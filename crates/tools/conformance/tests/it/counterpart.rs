//! A judged side that sends what a script expects, or something else.

use std::collections::VecDeque;
use std::future::{pending, ready};
use std::io;

use agentwire_recording::script::{Script, ScriptConfig, ScriptEvent, ScriptFailure, ScriptWire, play};
use serde_json::{Map, Value, json};

/// The step of the judged side each time that it is read from: a line, or nothing.
type Reads = Vec<Option<Value>>;

/// Reads what was prepared, whatever is written.
struct Prepared(VecDeque<Option<Value>>);

impl ScriptWire for Prepared {
    async fn write(&mut self, _: &[u8]) {}

    async fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.0.pop_front() {
            Some(Some(message)) => Ok(Some(message.to_string().into_bytes())),
            Some(None) => pending().await,
            None => Ok(None),
        }
    }

    async fn close(&mut self) {}
}

/// Plays a script against what was prepared. No time passes: what is not there does not come.
pub(crate) fn outcome(script: &Script, reads: &[Option<Value>]) -> Result<(), ScriptFailure> {
    let mut wire = Prepared(reads.iter().cloned().collect());
    let played = play(script, &mut wire, ScriptConfig::new(), |_| ready(()));
    futures_util::FutureExt::now_or_never(played).expect("nothing is waited for")
}

/// The steps of a conformant side.
pub(crate) fn conformant(script: &Script) -> Reads {
    let reads = script.events.iter().filter_map(|event| match event {
        ScriptEvent::Expect(pattern) => Some(Some(fitting(pattern))),
        ScriptEvent::Quiet => Some(None),
        _ => None,
    });
    reads.collect()
}

/// A value that fits a pattern.
fn fitting(pattern: &Value) -> Value {
    match pattern {
        Value::String(text) if is_name(text) => json!({ "value of": text }),
        Value::String(text) => Value::from(text.replace('*', "any text")),
        Value::Array(patterns) => patterns.iter().map(fitting).collect(),
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| *name != "...");
            Value::Object(members.map(|(name, pattern)| (name.clone(), fitting(pattern))).collect())
        }
        other => other.clone(),
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with('$') && !text.starts_with("$/")
}

/// The steps of a side that differs in one place, each with the difference.
pub(crate) fn wrong(script: &Script) -> Vec<(String, Reads)> {
    let reads = conformant(script);
    let patterns =
        script.events.iter().filter(|event| matches!(event, ScriptEvent::Expect(_) | ScriptEvent::Quiet));
    let mut wrong = Vec::new();
    for (index, event) in patterns.enumerate() {
        let with = |message: Option<Value>| {
            let mut reads = reads.clone();
            reads[index] = message;
            reads
        };
        let more = json!({ "jsonrpc": "2.0", "method": "_more" });
        let mut added = reads.clone();
        added.insert(index, Some(more.clone()));
        wrong.push((format!("read {index}: a message before it"), added));
        let (ScriptEvent::Expect(pattern), Some(message)) = (event, &reads[index]) else {
            continue;
        };
        let mut removed = reads.clone();
        removed.remove(index);
        wrong.push((format!("read {index}: removed"), removed));
        wrong.push((format!("read {index}: silence"), with(None)));
        for other in variants(pattern, message) {
            wrong.push((format!("read {index}: {other}"), with(Some(other))));
        }
    }
    let mut longer = reads;
    longer.push(Some(json!({})));
    wrong.push(("a message at the end".to_owned(), longer));
    wrong
}

/// The messages that differ from one in a place that its pattern fixes.
pub(crate) fn variants(pattern: &Value, message: &Value) -> Vec<Value> {
    match (pattern, message) {
        (Value::Object(patterns), Value::Object(members)) => {
            let mut variants = Vec::new();
            for (name, member) in members {
                let of_member =
                    patterns.get(name).map(|pattern| self::variants(pattern, member)).unwrap_or_default();
                variants.extend(of_member.into_iter().map(|other| replaced(members, name, Some(other))));
                variants.push(replaced(members, name, None));
            }
            if !patterns.contains_key("...") {
                variants.push(replaced(members, "_more", Some(json!(1))));
            }
            variants
        }
        (Value::Array(patterns), Value::Array(elements)) => {
            let mut variants = Vec::new();
            for (index, (pattern, element)) in patterns.iter().zip(elements).enumerate() {
                variants.extend(self::variants(pattern, element).into_iter().map(|other| {
                    let mut elements = elements.clone();
                    elements[index] = other;
                    Value::Array(elements)
                }));
            }
            variants.push(elements.iter().cloned().chain([json!(1)]).collect());
            variants
        }
        (Value::String(text), _) if is_name(text) || text == "*" => Vec::new(),
        (Value::String(text), _) if text.contains('*') => {
            let is_fixed = text.split('*').any(|piece| !piece.is_empty());
            if is_fixed { vec![json!("")] } else { Vec::new() }
        }
        (Value::String(_), Value::String(seen)) => vec![json!(format!("{seen}.")), Value::Null],
        _ => vec![json!("another value")],
    }
}

fn replaced(members: &Map<String, Value>, name: &str, value: Option<Value>) -> Value {
    let mut members = members.clone();
    match value {
        Some(value) => members.insert(name.to_owned(), value),
        None => members.remove(name),
    };
    Value::Object(members)
}
