//! `Frame::parse`: the envelope of a message is read without building a tree.

use agentwire_cost_tests::Meter;
use agentwire_jsonrpc::Frame;

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
