//! Lines that go out.

use std::task::Poll;

use agentwire_jsonrpc::{ErrorObject, Frame, Message, RawJson, Request, RequestId, Response};
use agentwire_transport::{Lines, Packet, TransportError, lines};
use futures::io;
use proptest::prelude::*;

use crate::pipe::Writer;
use crate::{close, flush, is_ready, note, note_text, ready, send};

/// Above this much, nothing more is taken.
const HIGH_WATER: usize = 64 << 10;

type Writing = Lines<io::Empty, Writer>;

fn writing(writer: Writer) -> Writing {
    lines(io::empty(), writer)
}

/// How much was sent before the sink was no longer ready.
fn fill(lines: &mut Writing, size: usize) -> String {
    let mut sent = String::new();
    while is_ready(lines) {
        assert!(sent.len() < 1 << 20, "the sink is always ready");
        send(lines, note("n", size));
        sent += &note_text("n", size);
        sent.push('\n');
    }
    sent
}

#[test]
fn are_joined_into_one_write() {
    let mut lines = writing(Writer::new());
    for _ in 0..100 {
        assert!(is_ready(&mut lines));
        send(&mut lines, note("n", 10));
    }
    assert_eq!(lines.writer().writes, 0);
    assert!(flush(&mut lines).is_ready());
    assert_eq!(lines.writer().writes, 1);
    assert!(lines.writer().flushed);
    assert_eq!(lines.writer().text(), (note_text("n", 10) + "\n").repeat(100));
}

#[test]
fn all_kinds_of_frames_are_lines() {
    let mut lines = writing(Writer::new());
    let params = RawJson::parse("{\n\"a\": 1\r\n}".into()).unwrap();
    let request = Message::from(Request::new("a\nb", "m", Some(params)));
    let error = ErrorObject::new(1, "no").with_data(&"x".repeat(40_000));
    let failure = Message::from(Response::new(RequestId::NULL, Err(error)));
    let frames = [
        Frame::from(request.clone()),
        Frame::Batch(vec![Ok(request), Ok(note("n", 40_000))]),
        Frame::from(failure),
        Frame::parse("no JSON".into()),
    ];
    let mut expected = Vec::new();
    for frame in frames {
        frame.write(&mut expected);
        expected.push(b'\n');
        send(&mut lines, Packet::new(frame));
    }
    // A peer cannot leave one request of a transport of lines, so nothing is written.
    send(&mut lines, Packet::CallerLeft(1u64.into()));
    assert!(flush(&mut lines).is_ready());
    assert_eq!(lines.writer().taken, expected);
    assert_eq!(lines.writer().text().lines().count(), 4);
}

#[test]
fn a_writer_that_takes_nothing_stops_the_sender_and_bounds_the_memory() {
    let mut lines = writing(Writer { allowance: 0.into(), ..Writer::new() });
    let sent = fill(&mut lines, 100);
    assert!((HIGH_WATER..HIGH_WATER + 200).contains(&sent.len()), "{}", sent.len());
    assert!(flush(&mut lines).is_pending());
    assert!(close(&mut lines).is_pending());
    assert!(!lines.writer().closed);
}

/// There is room as soon as little enough waits, not only when all of it is written.
#[test]
fn a_little_room_is_room() {
    let mut lines = writing(Writer { allowance: 0.into(), ..Writer::new() });
    let mut sent = fill(&mut lines, 100);
    for _ in 0..200 {
        open(&mut lines, 1000);
        let more = fill(&mut lines, 100);
        assert!(!more.is_empty());
        sent += &more;
        assert!(sent.len() - lines.writer().taken.len() < HIGH_WATER + 200);
    }
    open(&mut lines, usize::MAX);
    assert!(flush(&mut lines).is_ready());
    assert_eq!(lines.writer().text(), sent);
}

/// Lets the writer take so much more.
fn open(lines: &mut Writing, bytes: usize) {
    lines.writer().allowance.set(bytes);
}

#[test]
fn a_large_message_is_taken_whole() {
    let mut lines = writing(Writer { allowance: 0.into(), ..Writer::new() });
    assert!(is_ready(&mut lines));
    send(&mut lines, note("n", 4 << 20));
    assert!(!is_ready(&mut lines), "and is waited for");
}

#[test]
fn failures_are_faults() {
    let mut lines = writing(Writer { fails: true, ..Writer::new() });
    send(&mut lines, note("n", 1));
    assert!(
        matches!(flush(&mut lines), Poll::Ready(Err(TransportError::Io(error))) if error.kind() == io::ErrorKind::BrokenPipe)
    );

    // A writer that takes nothing, again and again, would be asked for ever.
    let mut lines = writing(Writer { at_once: 0, ..Writer::new() });
    send(&mut lines, note("n", 70_000));
    assert!(
        matches!(ready(&mut lines), Poll::Ready(Err(TransportError::Io(error))) if error.kind() == io::ErrorKind::WriteZero)
    );
}

#[test]
fn closing_writes_what_waits_first() {
    let mut lines = writing(Writer::new());
    send(&mut lines, note("n", 1));
    send(&mut lines, note("n", 50_000));
    assert!(close(&mut lines).is_ready());
    assert!(lines.writer().closed);
    assert_eq!(lines.writer().text(), format!("{}\n{}\n", note_text("n", 1), note_text("n", 50_000)));
}

#[derive(Clone, Debug)]
enum Step {
    Send(usize),
    /// Asks for room, as a sender does.
    Ready,
    Flush,
    /// Lets the writer take so much more.
    Open(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..300usize).prop_map(Step::Send),
        2 => (32_000..33_500usize).prop_map(Step::Send),
        1 => (30_000..120_000usize).prop_map(Step::Send),
        2 => Just(Step::Ready),
        2 => Just(Step::Flush),
        4 => (1..50usize).prop_map(Step::Open),
        3 => (1..70_000usize).prop_map(Step::Open),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn come_out_byte_for_byte_however_little_is_taken(
        steps in prop::collection::vec(step(), 1..60),
        at_once in prop_oneof![100..1_000usize, 1_000..100_000usize],
    ) {
        let mut lines = writing(Writer { at_once, allowance: 0.into(), ..Writer::new() });
        let (mut sent, mut count) = (String::new(), 0);
        for step in steps {
            match step {
                Step::Send(size) => {
                    if is_ready(&mut lines) {
                        // Their names differ, so that a swap would be seen.
                        count += 1;
                        let name = format!("n{count}");
                        send(&mut lines, note(&name, size));
                        sent += &note_text(&name, size);
                        sent.push('\n');
                    }
                }
                Step::Ready => {
                    let ready = is_ready(&mut lines);
                    let waiting = sent.len() - lines.writer().taken.len();
                    prop_assert_eq!(ready, waiting < HIGH_WATER);
                }
                Step::Flush => {
                    let done = flush(&mut lines).map(Result::unwrap).is_ready();
                    prop_assert_eq!(done, lines.writer().taken.len() == sent.len());
                }
                Step::Open(bytes) => open(&mut lines, bytes),
            }
            prop_assert!(sent.as_bytes().starts_with(&lines.writer().taken));
        }
        open(&mut lines, usize::MAX);
        prop_assert!(close(&mut lines).map(Result::unwrap).is_ready());
        prop_assert_eq!(lines.writer().text(), sent);
    }
}

/// One byte at a time, through the path that gives many pieces to one call.
#[test]
fn a_byte_at_a_time() {
    let sizes = [10, 40_000, 5, 0, 32_768, 33_000, 20, 36_000];
    let mut lines = writing(Writer { at_once: 1, ..Writer::new() });
    let mut sent = String::new();
    for (size, name) in sizes.into_iter().zip('a'..) {
        send(&mut lines, note(&name.to_string(), size));
        sent += &note_text(&name.to_string(), size);
        sent.push('\n');
    }
    assert!(flush(&mut lines).is_ready());
    assert_eq!(lines.writer().text(), sent);
    assert_eq!(lines.writer().writes, sent.len());
}
