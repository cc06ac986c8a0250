//! Lines are cut, and the envelope of a message is read, in time that is linear in their bytes and without a tree.

use std::time::Duration;

use agentwire_cost_tests::Meter;
use agentwire_jsonrpc::{Frame, LineDecoder};

/// 4 MiB of the JSON that takes most memory as a tree: one object of one empty key for each six bytes.
fn request_of_tiny_objects() -> String {
    let objects = vec![r#"{"":0}"#; 600_000].join(",");
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"x":[{objects}]}}}}"#)
}

#[test]
fn an_envelope_costs_a_scan_and_a_copy() {
    let meter = Meter::lock();
    let text = request_of_tiny_objects();
    let reference = meter.reference(text.as_bytes());
    let (frame, cost) = meter.measure(|| Frame::parse(text.clone().into()));
    drop(frame);
    assert!(cost.peak_per_byte(text.len()) < 2.0, "{cost:?}");
    assert!(cost.cpu_ratio(reference) < 6.0, "{cost:?}, reference {reference:?}");
}

/// The most that twice the input may cost, as a multiple of what the input costs. Quadratic work costs four times.
const LINEAR: f64 = 3.0;

/// The least of three runs, because other programs can only make a run longer.
fn least(meter: &Meter, work: impl Fn()) -> Duration {
    (0..3).map(|_| meter.measure(&work).1.cpu).min().unwrap_or_default()
}

#[test]
fn a_line_that_grows_is_looked_at_once() {
    const PIECE: usize = 64;
    const LENGTH: usize = 4 << 20;
    let meter = Meter::lock();
    let read = |length: usize| {
        let mut decoder = LineDecoder::default();
        for _ in 0..length / PIECE {
            decoder.push(&[b'x'; PIECE]);
            assert_eq!(decoder.next_line(), None);
        }
        decoder.push(b"\n");
        assert_eq!(decoder.next_line().unwrap().unwrap().len(), length);
    };
    let (once, twice) = (least(&meter, || read(LENGTH)), least(&meter, || read(2 * LENGTH)));
    assert!(twice.as_secs_f64() / once.as_secs_f64() < LINEAR, "{once:?}, {twice:?}");
}

#[test]
fn long_lines_that_arrive_together_are_moved_once() {
    const LENGTH: usize = 17 << 10;
    let meter = Meter::lock();
    let mut line = vec![b'x'; LENGTH];
    line.push(b'\n');
    let read = |count: usize| {
        let stream = line.repeat(count);
        let mut decoder = LineDecoder::new(usize::MAX);
        decoder.push(&stream);
        for _ in 0..count {
            assert_eq!(decoder.next_line().unwrap().unwrap().len(), LENGTH);
        }
        assert_eq!(decoder.next_line(), None);
    };
    let (once, twice) = (least(&meter, || read(1000)), least(&meter, || read(2000)));
    assert!(twice.as_secs_f64() / once.as_secs_f64() < LINEAR, "{once:?}, {twice:?}");
}
