use agentwire_jsonrpc::{Encoder, ErrorObject, RawJson};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Holder {
    a: RawJson,
    #[serde(default)]
    b: Option<RawJson>,
}

#[test]
fn stays_as_it_was_inside_another_value() {
    let text = r#"{"a":{"z":1.50,"a":1e400,"z":"\u0041"},"b":[ 1 ]}"#;
    let held: Holder = serde_json::from_str(text).unwrap();
    assert_eq!(held.a.as_str(), r#"{"z":1.50,"a":1e400,"z":"\u0041"}"#);
    assert_eq!(serde_json::to_string(&held).unwrap(), text);
    assert_eq!(RawJson::encode(&held).unwrap().decode::<Holder>().unwrap(), held);
}

#[test]
fn is_one_value_on_one_line() {
    let raw = RawJson::parse(" \n[1,\r\n2]\t\n".into()).unwrap();
    assert_eq!(raw.as_str(), "[1,  2]");
    assert!(RawJson::parse(" null ".into()).unwrap().is_null());

    let held: Holder = serde_json::from_str("{\"a\":[1,\n2]}").unwrap();
    assert_eq!(held.a.as_str(), "[1, 2]");

    let foreign: Box<serde_json::value::RawValue> = serde_json::from_str("{\"a\":\n1}").unwrap();
    assert_eq!(RawJson::encode(&foreign).unwrap().as_str(), "{\"a\": 1}");
    assert_eq!(Encoder::default().encode(&foreign).unwrap().as_str(), "{\"a\": 1}");

    for text in ["", " ", "1 2", "{", "[1,]", "tru", "{'a':1}"] {
        assert!(RawJson::parse(text.into()).is_err(), "{text}");
    }
}

#[test]
fn an_encoder_goes_on_after_a_value_without_a_json_form() {
    let mut encoder = Encoder::default();
    let kept: Vec<_> = (0..2_000).map(|number| encoder.encode(&[number]).unwrap()).collect();
    let broken = std::collections::BTreeMap::from([(vec![1], 1)]);
    assert!(encoder.encode(&("begun", broken)).is_err());
    let large = "x".repeat(100_000);
    assert_eq!(encoder.encode(&large).unwrap().len(), 100_002);
    assert_eq!(encoder.encode(&true).unwrap().as_str(), "true");
    for (number, raw) in kept.iter().enumerate() {
        assert_eq!(raw.as_str(), format!("[{number}]"));
    }
}

#[test]
fn errors_travel_with_their_data() {
    let error = ErrorObject::invalid_params("no path").with_data(&["path"]);
    let text = serde_json::to_string(&error).unwrap();
    assert_eq!(text, r#"{"code":-32602,"message":"invalid params: no path","data":["path"]}"#);
    assert_eq!(serde_json::from_str::<ErrorObject>(&text).unwrap(), error);
    let bare: ErrorObject = serde_json::from_str(r#"{"message":"m","code":-1,"data":null}"#).unwrap();
    assert_eq!(bare, ErrorObject::new(-1, "m"));
}

#[test]
fn half_pairs_are_made_whole_and_nothing_else_is_copied() {
    let plain = RawJson::parse(r#"["\ud83d\ude00"]"#.into()).unwrap();
    assert_eq!(plain.clone().with_whole_pairs(), plain);
    let half = RawJson::parse(r#"["\ud83d", {"\udE00":"\\ud83d"}]"#.into()).unwrap();
    assert_eq!(half.with_whole_pairs().as_str(), r#"["\ufffd", {"\ufffd":"\\ud83d"}]"#);
}

#[test]
fn what_a_peer_wrote_as_json_steers_nothing_in_debug_output() {
    let text = "{\"a\":\"\u{9b}2J\u{202e}\u{7f}\"}";
    let raw: agentwire_jsonrpc::RawJson = serde_json::from_str(text).unwrap();
    let object: agentwire_jsonrpc::RawObject = serde_json::from_str(text).unwrap();
    let id: agentwire_jsonrpc::RequestId = serde_json::from_str("\"\u{9b}2J\u{202e}\u{7f}\"").unwrap();
    for shown in [format!("{raw:?}"), format!("{object:?}"), format!("{id:?}")] {
        assert!(agentwire_jsonrpc::Printable::new(&shown).is_plain(), "{shown:?}");
    }
    assert_eq!(
        (raw.to_string(), object.to_string()),
        (text.to_owned(), text.to_owned()),
        "the JSON itself stays"
    );
}
