//! Lines are cut, and the envelope of a message is read, in time that is linear in their bytes and without a tree.

use std::time::Duration;

use agentwire_cost_tests::{Meter, check_json};
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
    let (frame, cost) = meter.measure(|| Frame::parse(text.clone().into()));
    drop(frame);
    assert!(cost.peak_per_byte(text.len()) < 2.0, "{cost:?}");
    let few = |reference: Duration, parsing: Duration| parsing < 6 * reference;
    let parse = || drop(Frame::parse(text.clone().into()));
    let (reference, parsing) = meter.least_of_both(|| check_json(&text), parse, few);
    assert!(few(reference, parsing), "{parsing:?}, reference {reference:?}");
}

/// The most that twice the input may cost, as a multiple of what the input costs. Quadratic work costs four times.
const LINEAR: f64 = 3.0;

/// Fails unless work on twice the input costs about twice as much.
fn is_linear(meter: &Meter, once: impl FnMut(), twice: impl FnMut()) {
    let holds = |once: Duration, twice: Duration| twice.as_secs_f64() < LINEAR * once.as_secs_f64();
    let (once, twice) = meter.least_of_both(once, twice, holds);
    assert!(holds(once, twice), "{once:?}, {twice:?}");
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
    is_linear(&meter, || read(LENGTH), || read(2 * LENGTH));
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
    is_linear(&meter, || read(1000), || read(2000));
}
