//! Finds the events of a Server-Sent Events stream, for a recording.

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StreamEvent {
    pub(super) name: String,
    pub(super) data: Vec<u8>,
    /// How long the data is. It is longer than `data` where it was cut.
    pub(super) length: u64,
}

/// Decodes a stream, in any pieces. Of data beyond the limit the rest is only counted.
#[derive(Debug)]
pub(super) struct EventDecoder {
    limit: usize,
    line: Vec<u8>,
    event: StreamEvent,
    has_data: bool,
    after_return: bool,
}

/// The longest line beyond data that is kept: a field's name and the name of an event.
const FIELD_ROOM: usize = 1024;

impl EventDecoder {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), event: StreamEvent::default(), has_data: false, after_return: false }
    }

    /// Takes bytes, and gives the events that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if std::mem::take(&mut self.after_return) => {}
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    events.extend(self.end_line());
                }
                byte => {
                    self.after_return = false;
                    if self.line.len() < self.limit.saturating_add(FIELD_ROOM) {
                        self.line.push(*byte);
                    } else {
                        self.event.length += 1;
                    }
                }
            }
        }
        events
    }

    fn end_line(&mut self) -> Option<StreamEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.add(b"\n");
                }
                self.add(value);
            }
            _ => {}
        }
        None
    }

    fn add(&mut self, bytes: &[u8]) {
        self.event.length += bytes.len() as u64;
        let room = self.limit.saturating_sub(self.event.data.len());
        self.event.data.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_in_any_pieces() {
        let stream =
            b": hi\r\nevent: endpoint\r\ndata: /m?a\r\n\r\nid: 7\ndata: {\ndata:}\n\n\n\rdata\r\rdata: x";
        for size in [1, 3, stream.len()] {
            let mut decoder = EventDecoder::new(100);
            let events: Vec<_> = stream.chunks(size).flat_map(|piece| decoder.push(piece)).collect();
            let found: Vec<_> = events.iter().map(|event| (&*event.name, &*event.data)).collect();
            assert_eq!(found, [("endpoint", &b"/m?a"[..]), ("", b"{\n}"), ("", b"")]);
        }
    }

    #[test]
    fn a_long_event_is_cut_and_counted() {
        let mut decoder = EventDecoder::new(10);
        decoder.push(b"data: ");
        for _ in 0..1000 {
            assert!(decoder.push(&[b'x'; 100]).is_empty());
        }
        let event = decoder.push(b"\n\n").remove(0);
        assert_eq!((event.data.len(), event.length), (10, 100_000));
    }
}
