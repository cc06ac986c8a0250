//! One event, as the bytes that a stream carries.

use std::time::Duration;

/// Writes the lines before the data of an event, so that large data need not be copied.
///
/// The data follows on the same line and must have no line break in it; [`END`] ends the event. Without a `name` it
/// is a `message`. Neither `name` nor `id` may have a line break or a NUL in it.
///
/// ```
/// use agentwire_transport_http::sse;
///
/// let mut body = Vec::new();
/// sse::begin(None, Some("7"), &mut body);
/// body.extend_from_slice(b"{}");
/// body.extend_from_slice(sse::END);
/// assert_eq!(body, b"id: 7\ndata: {}\n\n");
/// ```
pub fn begin(name: Option<&str>, id: Option<&str>, out: &mut Vec<u8>) {
    if let Some(id) = id {
        field("id: ", id, out);
    }
    if let Some(name) = name {
        field("event: ", name, out);
    }
    out.extend_from_slice(b"data: ");
}

/// The end of an event.
pub const END: &[u8] = b"\n\n";

/// Writes an event whose data may have line breaks (any of CR, LF and CRLF); each line of it gets its field, and
/// the reader sees LF. `name` and `id` are as for [`begin`].
pub fn event(name: Option<&str>, id: Option<&str>, data: &str, out: &mut Vec<u8>) {
    begin(name, id, out);
    let mut rest = data;
    while let Some(at) = rest.find(['\r', '\n']) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        out.extend_from_slice(b"\ndata: ");
        let ending = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        rest = &rest[at + ending..];
    }
    out.extend_from_slice(rest.as_bytes());
    out.extend_from_slice(END);
}

/// Writes how long a reader waits before it comes back to a stream that ended, in whole milliseconds. It is part of
/// the event that follows.
pub fn retry(after: Duration, out: &mut Vec<u8>) {
    out.extend_from_slice(b"retry: ");
    decimal(u64::try_from(after.as_millis()).unwrap_or(u64::MAX), out);
    out.push(b'\n');
}

/// Writes an empty comment, which readers skip. It keeps proxies from closing an idle stream.
pub fn comment(out: &mut Vec<u8>) {
    out.extend_from_slice(b":\n\n");
}

/// Writes a number.
pub(crate) fn decimal(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

fn field(name: &str, value: &str, out: &mut Vec<u8>) {
    debug_assert!(!value.contains(['\r', '\n', '\0']), "a field of one line: {value:?}");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_event_has_its_fields_and_an_empty_line() {
        assert_eq!(written(|out| event(None, None, "{}", out)), "data: {}\n\n");
        assert_eq!(
            written(|out| event(Some("endpoint"), Some("1-0"), "/p", out)),
            "id: 1-0\nevent: endpoint\ndata: /p\n\n"
        );
        assert_eq!(written(|out| event(None, Some("a"), "", out)), "id: a\ndata: \n\n");
    }

    #[test]
    fn each_line_of_data_gets_its_field() {
        assert_eq!(
            written(|out| event(None, None, "a\nb\r\nc\rd\n", out)),
            "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"
        );
    }

    #[test]
    fn retry_and_comment() {
        assert_eq!(written(|out| retry(Duration::from_millis(1500), out)), "retry: 1500\n");
        assert_eq!(written(comment), ":\n\n");
        for number in [0, 7, 10, 4096, u64::MAX] {
            assert_eq!(written(|out| decimal(number, out)), number.to_string());
        }
    }
}
