//! A client of the endpoint, and the events that it reads.

pub(crate) use agentwire_test_support::net::{PATIENCE, Raw};
use serde_json::Value;

/// A stream of events that is being read.
pub(crate) struct Events {
    pub(crate) raw: Raw,
    text: String,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) data: String,
    pub(crate) retry: Option<String>,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error}: {}", self.data))
    }
}

impl Events {
    pub(crate) fn new(raw: Raw) -> Self {
        Self { raw, text: String::new() }
    }

    /// The next event. None at the end.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(at) = self.text.find("\n\n") {
                let block: String = self.text.drain(..at + 2).collect();
                if let Some(event) = parse_events(&block).pop() {
                    return Some(event);
                }
                continue;
            }
            self.text += std::str::from_utf8(&self.raw.chunk().await?).unwrap();
        }
    }

    /// All that is left.
    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// The events in a text, without comments.
pub(crate) fn parse_events(text: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for block in text.split_terminator("\n\n") {
        let mut event = None;
        for line in block.lines().filter(|line| !line.starts_with(':')) {
            let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("a field: {line:?}"));
            let event: &mut Event = event.get_or_insert_default();
            match name {
                "id" => event.id = Some(value.to_owned()),
                "data" => event.data += value,
                "retry" => event.retry = Some(value.to_owned()),
                other => panic!("the field {other}"),
            }
        }
        events.extend(event);
    }
    events
}
