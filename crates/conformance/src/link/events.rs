//! Server-sent events as bytes: everything that stands in them, also what a browser would drop.

/// The most bytes of one event.
const MAX_EVENT: usize = 64 << 20;

/// One event, up to the blank line that ends it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The last `id` field.
    pub(crate) id: Option<String>,
    /// The last `event` field.
    pub(crate) name: Option<String>,
    /// The `data` fields, joined by line feeds.
    pub(crate) data: String,
    /// Whether there is a `data` field at all.
    pub(crate) has_data: bool,
    /// The last `retry` field.
    pub(crate) retry: Option<String>,
    /// The comments, each without its colon.
    pub(crate) comments: Vec<String>,
}

impl Event {
    /// Reads the lines of one event.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut event = Self::default();
        for line in text.split(['\n', '\r']).filter(|line| !line.is_empty()) {
            event.field(line);
        }
        event
    }

    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" => self.comments.push(value.to_owned()),
            "id" => self.id = Some(value.to_owned()),
            "event" => self.name = Some(value.to_owned()),
            "retry" => self.retry = Some(value.to_owned()),
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(value);
            }
            _ => {}
        }
    }

    /// As lines, without the blank line at the end.
    pub(crate) fn to_text(&self) -> String {
        let mut lines: Vec<String> = self.comments.iter().map(|comment| format!(": {comment}")).collect();
        lines.extend(self.id.iter().map(|id| format!("id: {id}")));
        lines.extend(self.name.iter().map(|name| format!("event: {name}")));
        lines.extend(self.retry.iter().map(|retry| format!("retry: {retry}")));
        if self.has_data {
            lines.extend(self.data.split('\n').map(|line| format!("data: {line}")));
        }
        lines.join("\n")
    }

    /// Whether it is a JSON-RPC message: an event called `message`, or without a name, with data.
    pub(crate) fn is_message(&self) -> bool {
        !self.data.is_empty() && self.name.as_deref().is_none_or(|name| name == "message")
    }
}

/// Splits a stream of bytes into events. Lines end with LF, CR LF or CR.
#[derive(Debug, Default)]
pub(crate) struct EventDecoder {
    buffer: Vec<u8>,
}

impl EventDecoder {
    /// Adds bytes and returns the events that are whole.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        if self.buffer.len() + bytes.len() > MAX_EVENT {
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some((end, length)) = blank_line(&self.buffer) {
            let event: Vec<u8> = self.buffer.drain(..end + length).take(end).collect();
            if event.iter().any(|byte| !matches!(byte, b'\r' | b'\n')) {
                events.push(Event::parse(&event));
            }
        }
        events
    }
}

/// Where the first event ends, and how long the line ends behind it are.
fn blank_line(bytes: &[u8]) -> Option<(usize, usize)> {
    let ends: [&[u8]; 3] = [b"\n\n", b"\r\n\r\n", b"\r\r"];
    ends.iter()
        .filter_map(|end| Some((bytes.windows(end.len()).position(|window| window == *end)?, end.len())))
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_what_stands_in_them() {
        let mut decoder = EventDecoder::default();
        assert!(decoder.push(b"id: 7\r\nevent: message\r\ndata: {\"a\"").is_empty());
        let events = decoder.push(b":1}\r\n\r\n: alive\n\nretry: 50\ndata:\n\n");
        assert_eq!(events.len(), 3);
        assert_eq!(events[0].id.as_deref(), Some("7"));
        assert_eq!(events[0].data, "{\"a\":1}");
        assert!(events[0].is_message());
        assert_eq!(events[1].comments, ["alive"]);
        assert!(!events[1].has_data);
        assert_eq!(events[2].retry.as_deref(), Some("50"));
        assert!(events[2].has_data && !events[2].is_message());
        assert_eq!(Event::parse(events[0].to_text().as_bytes()), events[0]);
    }
}
