//! Lines that come in.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_transport::{Lines, TransportError, lines};
use futures::{Stream, io};

use crate::pipe::{Blank, Read, Reader};
use crate::{Wakes, all, next, note_text};

fn reading(reader: Reader) -> Lines<Reader, io::Sink> {
    lines(reader, io::sink())
}

fn good(texts: &[&str]) -> Vec<Result<String, String>> {
    texts.iter().map(|text| Ok((*text).to_owned())).collect()
}

const A: &str = r#"{"jsonrpc":"2.0","method":"a"}"#;
const B: &str = r#"{"jsonrpc":"2.0","id":1,"method":"b","params":{"é":[]}}"#;

/// The code of the error that a malformed line is answered with.
#[track_caller]
fn code(item: &Result<String, String>) -> i64 {
    let answer: serde_json::Value = serde_json::from_str(item.as_ref().unwrap()).unwrap();
    answer["error"]["code"].as_i64().expect("an error")
}

#[test]
fn come_out_whole_and_in_order_however_they_arrive() {
    let stream = format!("\u{feff}{A}\n\n{B}\r\n[{A},{B}]\n{A}");
    let expected = good(&[A, B, &format!("[{A},{B}]"), A]);
    assert_eq!(all(&mut reading(Reader::of(stream.clone()))), expected);
    assert_eq!(all(&mut reading(Reader::trickle(stream.as_bytes()))), expected);
}

#[test]
fn message_without_a_line_end_is_taken_when_the_peer_pauses() {
    let script = [Read::Bytes(A.into()), Read::Pending, Read::Bytes(format!("\n{B}").into()), Read::Pending];
    let mut lines = reading(Reader::new(script));
    assert!(matches!(next(&mut lines), Poll::Ready(Some(Ok(text))) if text == A));
    assert!(matches!(next(&mut lines), Poll::Ready(Some(Ok(text))) if text == B));
    assert!(matches!(next(&mut lines), Poll::Ready(None)));
}

/// Half a line stays in the transport, so dropping the read loses nothing.
#[test]
fn half_a_line_waits_for_its_other_half() {
    let (first, second) = B.split_at(20);
    let script = [Read::Bytes(first.into()), Read::Pending, Read::Bytes(format!("{second}\n{A}\n").into())];
    let mut lines = reading(Reader::new(script));
    assert!(next(&mut lines).is_pending());
    assert!(matches!(next(&mut lines), Poll::Ready(Some(Ok(text))) if text == B));
    // The reader is not asked for more while there are lines.
    assert!(lines.reader().script.is_empty());
    assert!(matches!(next(&mut lines), Poll::Ready(Some(Ok(text))) if text == A));
    assert!(matches!(next(&mut lines), Poll::Ready(None)));
}

#[test]
fn an_unfinished_last_line_is_still_a_line() {
    assert_eq!(all(&mut reading(Reader::of(A))), good(&[A]));
    assert_eq!(all(&mut reading(Reader::of(format!("{A}\n\r\n ")))), good(&[A]));
    let items = all(&mut reading(Reader::of(format!("{A}\n{}", &B[..20]))));
    assert_eq!((items.len(), code(&items[1])), (2, -32700));
}

#[test]
fn the_end_is_the_end() {
    for mut lines in [reading(Reader::of(A)), reading(Reader::of("")), reading(Reader::new([Read::Error]))] {
        all(&mut lines);
        for _ in 0..3 {
            assert!(matches!(next(&mut lines), Poll::Ready(None)));
        }
    }
}

/// The part of a line before a failed read is not a line: its rest is lost.
#[test]
fn a_fault_is_the_last_item() {
    let script = [Read::Bytes(format!("{A}\n{B}\n{A}").into()), Read::Error];
    let mut lines = reading(Reader::new(script));
    let mut items = Vec::new();
    while let Poll::Ready(Some(item)) = next(&mut lines) {
        items.push(item);
    }
    let [Ok(first), Ok(second), Err(TransportError::Io(error))] = &items[..] else { panic!("{items:?}") };
    assert_eq!((first.as_str(), second.as_str()), (A, B));
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn malformed_line_does_not_end_the_transport() {
    let stream = [b"Listening\n{\"a\":\"\xff\"}\n[]\n", A.as_bytes(), b"\n"].concat();
    let items = all(&mut reading(Reader::of(stream)));
    let codes: Vec<_> = items[..3].iter().map(code).collect();
    assert_eq!(codes, [-32700, -32700, -32600]);
    assert_eq!(items[3..], good(&[A]));
}

#[test]
fn limits_are_kept_and_named() {
    let stream = format!("{}\n{A}\n[{A},{A}]\n[{A},{A},{A}]\n", note_text("long", 200));
    let mut lines = reading(Reader::of(stream)).limit(100).batch_limit(2);
    let items = all(&mut lines);
    assert_eq!((items.len(), code(&items[0]), code(&items[3])), (4, -32600, -32600));
    assert!(items[0].as_ref().unwrap().contains(r#""data":{"limit":100}"#), "{items:?}");
    assert!(items[3].as_ref().unwrap().contains(r#""data":{"limit":2}"#), "{items:?}");
    assert_eq!(items[1..3], good(&[A, &format!("[{A},{A}]")]));
}

#[test]
fn a_large_line_among_small_ones() {
    let large = note_text("large", 3 << 20);
    let mut reader = Reader::of(format!("{A}\n{large}\n{B}\n{large}\n{A}"));
    reader.at_once = 10_000;
    assert_eq!(all(&mut reading(reader)), good(&[A, &large, B, &large, A]));
}

/// A peer that sends nothing but blank lines, faster than they are read, must not keep the task for itself.
#[test]
fn a_reader_that_is_always_ready_starves_nobody() {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let mut lines = lines(Blank, io::sink());
    for round in 1..4 {
        assert!(Pin::new(&mut lines).poll_next(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(wakes.count(), round, "it must be asked again");
    }
}

#[test]
fn content_length_header_ends_the_transport_and_says_why() {
    let stream = format!("Content-Length: {}\r\n\r\n{A}", A.len());
    let [Err(error)] = &all(&mut reading(Reader::of(stream)))[..] else { panic!("one error, and the end") };
    assert!(error.contains("`Content-Length` headers"), "{error}");
    // Behind a message it is a line like any other.
    let items = all(&mut reading(Reader::of(format!("{A}\nContent-Length: 1\n{A}\n"))));
    assert_eq!((items.len(), code(&items[1])), (3, -32700));
}
