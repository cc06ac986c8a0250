//! Server-sent events as bytes: everything that stands in them, also what a browser would drop.

/// The most bytes of one event.
const MAX_EVENT: usize = 16 << 20;
/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

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

/// Splits a stream of bytes into events. Each line ends with LF, CR LF or CR, also where a stream mixes them.
#[derive(Debug, Default)]
pub(crate) struct EventDecoder {
    /// The lines of the event that is being read, with LF behind each.
    lines: Vec<u8>,
    /// The line that is being read.
    line: Vec<u8>,
    /// Whether the last byte was a CR, so that a LF belongs to the same line end.
    after_cr: bool,
    /// Whether a line has ended yet: a byte order mark may only stand before the first.
    begun: bool,
}

impl EventDecoder {
    /// Adds bytes and returns the events that are whole. Each byte is looked at once.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            let (line_end, after) = rest[end..].split_at(1);
            rest = after;
            if line_end == b"\r" {
                self.after_cr = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            events.extend(self.end_line());
        }
        self.line.extend_from_slice(rest);
        if self.lines.len() + self.line.len() > MAX_EVENT {
            self.lines.clear();
            self.line.clear();
        }
        events
    }

    /// Ends a line; an empty one ends the event, if it has any line.
    fn end_line(&mut self) -> Option<Event> {
        if !std::mem::replace(&mut self.begun, true) && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        if self.line.is_empty() {
            let lines = std::mem::take(&mut self.lines);
            return (!lines.is_empty()).then(|| Event::parse(&lines));
        }
        self.lines.append(&mut self.line);
        self.lines.push(b'\n');
        None
    }
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

    #[test]
    fn line_ends_may_be_mixed_and_split() {
        let stream = b"\xef\xbb\xbfdata: a\r\ndata: b\n\r\n: c\r\rid: 1\n\ndata: d\r\n\n\r\ndata: open\n";
        let mut whole = EventDecoder::default();
        let expected = whole.push(stream);
        let data: Vec<&str> = expected.iter().map(|event| event.data.as_str()).collect();
        assert_eq!(data, ["a\nb", "", "", "d"]);
        let mut split = EventDecoder::default();
        let events: Vec<Event> = stream.chunks(1).flat_map(|byte| split.push(byte)).collect();
        assert_eq!(events, expected);
    }

    #[test]
    fn a_long_event_in_many_parts_takes_linear_time() {
        let mut decoder = EventDecoder::default();
        let part = [b'x'; 64];
        decoder.push(b"data: ");
        let begun = std::time::Instant::now();
        for _ in 0..100_000 {
            assert!(decoder.push(&part).is_empty());
        }
        let events = decoder.push(b"\n\n");
        assert_eq!(events[0].data.len(), 6_400_000);
        // Where each part is looked at again, this takes hours.
        assert!(begun.elapsed() < std::time::Duration::from_secs(30));
    }
}
