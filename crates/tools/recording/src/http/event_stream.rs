//! Finds the events of a stream of Server-Sent Events, for a recording.

use crate::event::Line;
use crate::line_buffer::LineBuffer;

/// An event that has data.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StreamEvent {
    pub(super) name: String,
    pub(super) data: Line,
}

/// The result of reading a piece of a stream.
#[derive(Debug)]
pub(super) enum StreamStep {
    /// The end of an event.
    Event(StreamEvent),
    /// An empty line that ends no event.
    Blank,
    /// The whole piece was read without an end.
    More,
}

/// Decodes a stream that arrives in any pieces. Reads each byte once. Of the fields, only `data` is kept whole, within the limits
/// of its buffer.
#[derive(Debug)]
pub(super) struct EventDecoder {
    field: Field,
    name: Vec<u8>,
    data: LineBuffer,
    has_data: bool,
    after_return: bool,
    is_first_line: bool,
    /// Whether the field's value has not begun, so that a leading space is skipped.
    is_at_value: bool,
}

/// The field whose line is being read.
#[derive(Debug)]
enum Field {
    /// Its name has not ended.
    Name(Vec<u8>),
    Event,
    Data,
    Other,
}

/// The most bytes of a field's name that are kept: more than any known name with a byte order mark.
const FIELD_ROOM: usize = 16;

/// The most bytes of an event's name that are kept.
const NAME_ROOM: usize = 1024;

impl EventDecoder {
    /// A decoder that collects data in a buffer.
    pub(super) fn new(data: LineBuffer) -> Self {
        Self {
            field: Field::Name(Vec::new()),
            name: Vec::new(),
            data,
            has_data: false,
            after_return: false,
            is_first_line: true,
            is_at_value: false,
        }
    }

    /// Takes bytes, and returns the events that they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        loop {
            match self.step(&mut bytes) {
                StreamStep::Event(event) => events.push(event),
                StreamStep::Blank => {}
                StreamStep::More => return events,
            }
        }
    }

    /// Takes bytes up to the end of an event or an empty line, and leaves the others.
    pub(super) fn step(&mut self, bytes: &mut &[u8]) -> StreamStep {
        loop {
            if !bytes.is_empty() && std::mem::take(&mut self.after_return) {
                *bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            let Some(end) = bytes.iter().position(|byte| b"\r\n".contains(byte)) else {
                self.content(bytes);
                *bytes = &[];
                return StreamStep::More;
            };
            self.content(&bytes[..end]);
            self.after_return = bytes[end] == b'\r';
            *bytes = &bytes[end + 1..];
            if let Some(step) = self.end_line() {
                return step;
            }
        }
    }

    /// Takes a piece of a line.
    fn content(&mut self, mut piece: &[u8]) {
        if let Field::Name(name) = &mut self.field {
            let colon = piece.iter().position(|byte| *byte == b':');
            let length = colon.unwrap_or(piece.len()).min(FIELD_ROOM.saturating_sub(name.len()));
            name.extend_from_slice(&piece[..length]);
            let Some(colon) = colon else { return };
            self.end_name();
            piece = &piece[colon + 1..];
        }
        if !piece.is_empty() && std::mem::take(&mut self.is_at_value) {
            piece = piece.strip_prefix(b" ").unwrap_or(piece);
        }
        match self.field {
            Field::Event => {
                let room = NAME_ROOM.saturating_sub(self.name.len());
                self.name.extend_from_slice(&piece[..room.min(piece.len())]);
            }
            Field::Data => self.data.push(piece),
            Field::Name(_) | Field::Other => {}
        }
    }

    /// Ends the name of a field. Returns whether there is one.
    fn end_name(&mut self) -> bool {
        let Field::Name(name) = &self.field else { return true };
        let mark: &[u8] = if std::mem::take(&mut self.is_first_line) { "\u{feff}".as_bytes() } else { b"" };
        let name = name.strip_prefix(mark).unwrap_or(name);
        let has_name = !name.is_empty();
        self.field = match name {
            b"event" => {
                self.name.clear();
                Field::Event
            }
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b"\n");
                }
                Field::Data
            }
            _ => Field::Other,
        };
        self.is_at_value = true;
        has_name
    }

    fn end_line(&mut self) -> Option<StreamStep> {
        // A line without a colon is a name.
        let is_blank = !self.end_name();
        self.field = Field::Name(Vec::new());
        if !is_blank {
            return None;
        }
        let name = String::from_utf8_lossy(&std::mem::take(&mut self.name)).into_owned();
        let data = self.data.take();
        Some(match std::mem::take(&mut self.has_data) {
            true => StreamStep::Event(StreamEvent { name, data }),
            false => StreamStep::Blank,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_buffer::Budget;

    fn decoder(limit: usize) -> EventDecoder {
        EventDecoder::new(LineBuffer::new(limit, &Budget::new(1 << 20)))
    }

    #[test]
    fn events_are_found_in_any_pieces() {
        let stream = "\u{feff}event: endpoint\r\ndata: /m?a\r\n\r\n: hi\nid: 7\ndata: {\ndata:}\n\n\n\rdata\r\rdata:  y\rdatum: x\n\r\ndata: x";
        for size in [1, 3, stream.len()] {
            let mut decoder = decoder(100);
            let events: Vec<_> =
                stream.as_bytes().chunks(size).flat_map(|piece| decoder.push(piece)).collect();
            let found: Vec<_> = events.iter().map(|event| (&*event.name, &*event.data.bytes)).collect();
            assert_eq!(found, [("endpoint", &b"/m?a"[..]), ("", b"{\n}"), ("", b""), ("", b" y")]);
        }
    }

    #[test]
    fn a_long_event_is_cut_and_counted() {
        let mut decoder = decoder(10_000);
        decoder.push(b"data: ");
        for _ in 0..1000 {
            assert!(decoder.push(&[b'x'; 100]).is_empty());
        }
        let event = decoder.push(b"\n\n").remove(0);
        assert_eq!((event.data.bytes.len(), event.data.length), (4096, 100_000));
    }

    #[test]
    fn only_data_fields_are_kept() {
        let mut decoder = decoder(1000);
        for start in [&b":"[..], b"event:", b"id: ", b""] {
            decoder.push(start);
            for _ in 0..1000 {
                decoder.push(&[b'x'; 100]);
            }
            decoder.push(b"\n");
        }
        assert!(decoder.name.capacity() <= 2 * NAME_ROOM);
        let event = decoder.push(b"data: {\"a\":1}\n\n").remove(0);
        assert_eq!(event.data, Line::new(&b"{\"a\":1}"[..]));
    }
}
