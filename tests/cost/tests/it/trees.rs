//! `TreeCost`: its estimate is at least the memory of a tree, and is found in a scan.

use std::time::Duration;

use agentwire_cost_tests::{Meter, check_json};
use agentwire_jsonrpc::TreeCost;
use serde_json::Value;

#[test]
fn a_tree_takes_at_most_its_estimate() {
    let meter = Meter::lock();
    let deep = r#"{"":"#.repeat(120) + "0" + &"}".repeat(120);
    let names: Vec<_> = (0..2000).map(|number| format!(r#""{number}":{number}"#)).collect();
    let parts = [
        r#"{"":0}"#.to_owned(),
        "[0]".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "0".to_owned(),
        r#""""#.to_owned(),
        r#""x""#.to_owned(),
        r#"{"a":"x","b":[{"c":1.5}],"d":null}"#.to_owned(),
        format!("{{{}}}", names.join(",")),
        deep,
    ];
    for part in parts {
        let text = format!("[{}]", vec![&*part; (1 << 20) / (part.len() + 1)].join(","));
        let (value, cost) = meter.measure(|| serde_json::from_str::<Value>(&text).expect("JSON"));
        drop(value);
        let said = TreeCost::of(&text).bytes + text.len();
        assert!(cost.peak_bytes <= said, "{part:.40}: {said} said, {cost:?}");
        assert!(said <= 6 * cost.peak_bytes, "{part:.40}: {said} said, {cost:?}");
    }
}

#[test]
fn the_estimate_takes_one_scan() {
    let meter = Meter::lock();
    let text = format!("[{}]", vec![r#"{"":0}"#; 600_000].join(","));
    let (_, cost) = meter.measure(|| TreeCost::of(&text));
    assert!(cost.peak_bytes < 1024, "{cost:?}");
    let few = |reference: Duration, scan: Duration| scan < 6 * reference;
    let scan = || _ = TreeCost::of(&text);
    let (reference, scan) = meter.least_of_both(|| check_json(&text), scan, few);
    assert!(few(reference, scan), "{scan:?}, reference {reference:?}");
}
