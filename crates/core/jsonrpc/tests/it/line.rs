use agentwire_jsonrpc::{DEFAULT_LINE_LIMIT, Frame, Intent, LineDecoder, LineError, RequestId};
use proptest::prelude::*;

use crate::{describe, parse};

/// The outcome of a line: its text, or why it has none.
pub(crate) type Line = Result<String, LineError>;

/// Reads `bytes` in pieces of the given sizes, over and over.
pub(crate) fn read_in_pieces(bytes: &[u8], limit: usize, sizes: &[usize]) -> Vec<Line> {
    let mut decoder = LineDecoder::new(limit);
    let mut lines = Vec::new();
    let mut rest = bytes;
    for size in sizes.iter().cycle() {
        let piece;
        (piece, rest) = rest.split_at((*size).clamp(1, rest.len().max(1)).min(rest.len()));
        decoder.push(piece);
        while let Some(line) = decoder.next_line() {
            lines.push(line);
        }
        if rest.is_empty() {
            break;
        }
    }
    lines.extend(decoder.finish());
    assert_eq!(decoder.finish(), None);
    lines.into_iter().map(|line| line.map(String::from)).collect()
}

/// The lines, found by the simplest method.
fn expected(bytes: &[u8], limit: usize) -> Vec<Result<String, &'static str>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .filter(|line| line.len() > limit || !line.iter().all(u8::is_ascii_whitespace))
        .map(|line| match std::str::from_utf8(line) {
            _ if line.len() > limit => Err("too long"),
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err("not UTF-8"),
        })
        .collect()
}

fn simplified(lines: Vec<Line>) -> Vec<Result<String, &'static str>> {
    let name = |error| match error {
        LineError::TooLong { .. } => "too long",
        _ => "not UTF-8",
    };
    lines.into_iter().map(|line| line.map_err(name)).collect()
}

fn piece_of_stream() -> impl Strategy<Value = Vec<u8>> {
    let fragments: [&[u8]; 12] = [
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\xEF\xBB\xBF",
        b"\xEF",
        "é😀".as_bytes(),
        b"\xff",
        b"{\"id\":12,\"method\":\"m\"}",
        b"{\"id\":34,\"result\":[1,2,3]}",
        b"xxxxxxxxxxxxxxxx",
        b"y",
    ];
    prop::sample::select(fragments.to_vec()).prop_map(<[u8]>::to_vec)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_are_the_same_however_they_arrive(
        stream in prop::collection::vec(piece_of_stream(), 0..40).prop_map(|pieces| pieces.concat()),
        sizes in prop::collection::vec(1..30usize, 1..10),
        limit in 0..60usize,
    ) {
        let whole = read_in_pieces(&stream, limit, &[usize::MAX]);
        prop_assert_eq!(&read_in_pieces(&stream, limit, &sizes), &whole);
        prop_assert_eq!(&read_in_pieces(&stream, limit, &[1]), &whole);
        prop_assert_eq!(simplified(whole), expected(&stream, limit));
    }
}

#[test]
fn ends_blanks_and_the_byte_order_mark() {
    let table: [(&[u8], &[&str]); 10] = [
        (b"a\nb\r\nc", &["a", "b", "c"]),
        (b"\n\r\n \t\na\n\n", &["a"]),
        (b"\xEF\xBB\xBFa\n", &["a"]),
        (b"\xEF\xBB\xBF", &[]),
        (b"\xEF\xBB\xBF\r\na", &["a"]),
        // Only at the start does it mean nothing.
        (b"a\n\xEF\xBB\xBFb\n", &["a", "\u{feff}b"]),
        (b"\n\xEF\xBB\xBFb\n", &["\u{feff}b"]),
        (b"a\rb\r\r\n", &["a\rb\r"]),
        (b"a\r", &["a"]),
        (b"", &[]),
    ];
    for (bytes, lines) in table {
        for sizes in [&[usize::MAX][..], &[1], &[2]] {
            let read: Vec<_> = read_in_pieces(bytes, 100, sizes).into_iter().map(Result::unwrap).collect();
            assert_eq!(read, lines, "{bytes:?}");
        }
    }
}

#[test]
fn a_line_exactly_at_the_limit_is_taken_with_any_end() {
    for (before, end) in [("", "\n"), ("", "\r\n"), ("\u{feff}", "\r\n"), ("", ""), ("", "\r")] {
        for sizes in [&[usize::MAX][..], &[1], &[5], &[6], &[9]] {
            let fits = read_in_pieces(format!("{before}12345{end}").as_bytes(), 5, sizes);
            assert_eq!(fits, [Ok("12345".into())], "{before:?} {end:?} {sizes:?}");
            let over = read_in_pieces(format!("{before}123456{end}").as_bytes(), 5, sizes);
            assert!(matches!(over[..], [Err(LineError::TooLong { limit: 5, .. })]), "{over:?}");
        }
    }
    // Half a byte order mark is not a line either.
    assert_eq!(read_in_pieces("\u{feff}1\r\n".as_bytes(), 1, &[1]), [Ok("1".into())]);
}

#[test]
fn a_line_over_the_limit_is_refused_before_its_memory_is_taken() {
    const LIMIT: usize = 1 << 20;
    let mut decoder = LineDecoder::new(LIMIT);
    decoder.push(br#"{"jsonrpc":"2.0","id":"a","method":"m","params":""#);
    let mut refusals = Vec::new();
    let mut held = 0;
    for _ in 0..200 {
        let room = decoder.room();
        room.fill(b'x');
        let count = room.len();
        held += count;
        assert!(held <= LIMIT + (64 << 10), "{held} bytes of memory");
        decoder.filled(count);
        refusals.extend(decoder.next_line());
        if !refusals.is_empty() {
            held = 0;
        }
    }
    decoder.push(b"\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"next\"}\n");
    let next = decoder.next_line().unwrap();

    let [refusal] = refusals.try_into().unwrap();
    let Err(LineError::TooLong { limit: LIMIT, intent, .. }) = &refusal else { panic!("{refusal:?}") };
    assert_eq!(*intent, Intent::Request(RequestId::from("a")));
    let Frame::Malformed(malformed) = Frame::from(refusal) else { panic!("refused") };
    assert_eq!(malformed.error.data.clone().unwrap().as_str(), format!("{{\"limit\":{LIMIT}}}"));
    assert!(malformed.error.message.contains("1048576"), "{}", malformed.error);
    assert_eq!(describe(&Frame::Malformed(malformed)), r#"malformed -32600, answer "a""#);
    assert_eq!(describe(&Frame::from(next)), "notification next");
}

#[test]
fn overlong_line_is_reported_with_its_id() {
    let table = [
        (r#"{"id":5,"method":"m","params":"#, "answer 5"),
        (r#"{"method":"m","id":5,"params":"#, "answer 5"),
        (r#"{"id":5,"params":"#, "answer 5"),
        // An answer that is too long fails the call that waits for it.
        (r#"{"jsonrpc":"2.0","id":5,"result":"#, "fails 5"),
        (r#"{"id":5,"error":"#, "fails 5"),
        (r#"{"result":"#, "fails null"),
        // Neither a request nor an answer so far.
        (r#"{"id":5,"x":"#, "answer null"),
        (r#"{"id":5,"method":"m","result":"#, "fails 5"),
        (r#"{"id":5,"id":6,"method":"m","params":"#, "answer null"),
        (r#"[{"id":5,"method":"m","params":"#, "answer null"),
        ("no JSON", "answer null"),
        ("\u{feff}{\"id\":5,\"method\":\"m\",\"params\":", "answer 5"),
    ];
    for (begin, expected) in table {
        for sizes in [&[usize::MAX][..], &[7]] {
            let stream = format!("{begin}\"{}\"}}\n{{}}", "x".repeat(500));
            let mut lines = read_in_pieces(stream.as_bytes(), 100, sizes).into_iter();
            let refused = Frame::from(lines.next().unwrap().map(Into::into));
            assert_eq!(describe(&refused), format!("malformed -32600, {expected}"), "{begin}");
            assert_eq!(lines.next(), Some(Ok("{}".into())));
        }
    }
}

#[test]
fn an_id_that_is_cut_off_is_no_id() {
    let line = br#"{"method":"m","params":[],"id":123456,"x":"xxxxxxxx"}"#;
    let after_id = line.iter().position(|byte| *byte == b'6').unwrap() + 1;
    for limit in after_id - 6..after_id + 3 {
        let [Err(LineError::TooLong { intent, .. })] = &read_in_pieces(line, limit, &[1])[..] else {
            panic!("over the limit")
        };
        let id = if limit > after_id { RequestId::from(123_456_u64) } else { RequestId::NULL };
        assert_eq!(*intent, Intent::Request(id), "{limit}");
    }
}

#[test]
fn invalid_utf8_is_refused_and_the_stream_goes_on() {
    let stream = b"{\"a\":\"\xff\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\xe2\x82";
    let frames: Vec<_> = read_in_pieces(stream, 100, &[3])
        .into_iter()
        .map(|line| describe(&Frame::from(line.map(Into::into))))
        .collect();
    let refused = "malformed -32700, answer null";
    assert_eq!(frames, [refused, "notification m", refused]);
}

#[test]
fn answer_that_is_not_utf8_fails_its_call_whatever_its_length() {
    for length in [1, 100, 20_000, 200_000] {
        let text = "x".repeat(length);
        let mut stream = format!("{{\"result\":\"{text}").into_bytes();
        stream.extend_from_slice(b"\xff\",\"id\":7}\n");
        let [line] = &read_in_pieces(&stream, DEFAULT_LINE_LIMIT, &[64 << 10])[..] else {
            panic!("one line")
        };
        let frame = Frame::from(line.clone().map(Into::into));
        assert_eq!(describe(&frame), "malformed -32700, fails 7", "{length}");
    }
}

/// Small lines, lines that take the buffer along, and whatever is behind them come out whole.
#[test]
fn lines_of_all_sizes() {
    let lengths =
        [1, 10, 17 << 10, 3, 40 << 10, 64 << 10, 1, 700_000, 2, 30_000, 16 << 10, (16 << 10) + 1, 5];
    let lines: Vec<String> =
        lengths.iter().zip('a'..).map(|(length, letter)| letter.to_string().repeat(*length)).collect();
    let stream = lines.join("\n");
    for sizes in [&[usize::MAX][..], &[64 << 10], &[1000, 7, 100_000], &[4096]] {
        let read = read_in_pieces(stream.as_bytes(), DEFAULT_LINE_LIMIT, sizes);
        assert!(read.into_iter().map(Result::unwrap).eq(lines.iter().cloned()), "{sizes:?}");
    }
}

#[test]
fn the_memory_of_a_long_line_is_given_back() {
    let mut decoder = LineDecoder::default();
    for _ in 0..3 {
        decoder.push(&vec![b'x'; 4 << 20]);
        decoder.push(b"\n{}\n");
        assert_eq!(decoder.next_line().unwrap().unwrap().len(), 4 << 20);
        assert_eq!(describe(&parse(&decoder.next_line().unwrap().unwrap())), "malformed -32600, answer null");
        assert_eq!(decoder.next_line(), None);
        assert!(decoder.room().len() <= 256 << 10, "{}", decoder.room().len());
    }
    // And so is that of a great many short ones.
    decoder.push(&b"{}\n".repeat(150_000));
    while decoder.next_line().is_some() {}
    assert!(decoder.room().len() <= 256 << 10, "{}", decoder.room().len());
}

#[test]
fn object_is_taken_without_its_line_end() {
    let mut decoder = LineDecoder::default();
    let mut push = |bytes: &[u8]| {
        decoder.push(bytes);
        let line = decoder.next_line();
        line.or_else(|| decoder.whole_object()).map(|line| line.map(String::from))
    };
    assert_eq!(push(b"\xEF\xBB\xBF"), None);
    assert_eq!(push(br#" {"a":"}","b":{}"#), None);
    assert_eq!(push(br#","c":"\"}"#), None);
    assert_eq!(push(br#""}"#), Some(Ok(r#" {"a":"}","b":{},"c":"\"}"}"#.into())));
    assert_eq!(push(b"\r\n"), None, "its line end is a blank line");
    assert_eq!(push(b"{}"), Some(Ok("{}".into())));
    assert_eq!(push(b"{}\n"), Some(Ok("{}".into())));
    assert!(matches!(push(b"{\"a\":\"\xFF\"}"), Some(Err(LineError::NotUtf8 { .. }))));
    for text in ["[{}", "[{}]", "{a}", "{}{}", "{}}", "x {}", "{\"a\":\"{}"] {
        assert_eq!(push(text.as_bytes()), None, "{text}");
        assert_eq!(push(b"\n"), Some(Ok(text.into())));
    }
}

#[test]
fn object_that_comes_byte_by_byte_is_read_once() {
    let start = std::time::Instant::now();
    let mut decoder = LineDecoder::default();
    let spaces = " ".repeat(1 << 20);
    for begin in [r#"{"a":""#, "{a", &format!("{spaces}{{\"a\":\""), &format!("x{spaces}")] {
        for byte in [begin, &"}".repeat(1 << 20)].concat().bytes() {
            decoder.push(&[byte]);
            assert_eq!(decoder.next_line(), None);
            assert_eq!(decoder.whole_object(), None);
        }
        decoder.push(b"\n");
        while decoder.next_line().is_some() {}
    }
    // A second reading at each byte would take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
