use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;

use agentwire_jsonrpc::{Encoder, ErrorObject, RawJson, RawObject};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

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
    let broken = BTreeMap::from([(vec![1], 1)]);
    assert!(encoder.encode(&("begun", broken)).is_err());
    let large = "x".repeat(100_000);
    assert_eq!(encoder.encode(&large).unwrap().len(), 100_002);
    assert_eq!(encoder.encode(&true).unwrap().as_str(), "true");
    for (number, raw) in kept.iter().enumerate() {
        assert_eq!(raw.as_str(), format!("[{number}]"));
    }
}

#[test]
fn a_value_may_encode_others_while_it_is_encoded() {
    struct Nested(usize);

    impl Serialize for Nested {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                0 => BTreeMap::from([("end", "x".repeat(5000))]).serialize(serializer),
                depth => (depth, RawJson::encode(&Self(depth - 1)).unwrap(), depth).serialize(serializer),
            }
        }
    }

    let raw = RawJson::encode(&Nested(3)).unwrap();
    let end = "x".repeat(5000);
    assert_eq!(raw.as_str(), format!(r#"[3,[2,[1,{{"end":"{end}"}},1],2],3]"#));
}

#[test]
fn values_of_all_lengths_are_encoded_apart_from_what_failed_before() {
    let broken = BTreeMap::from([(vec![1], 1)]);
    let mut all = Vec::new();
    for length in [0, 1, 500, 4093, 4094, 4095, 4096, 9000, 3, 70_000, 2] {
        assert!(RawJson::encode(&("begun", &broken)).is_err());
        let panicked = thread::spawn(move || {
            struct Panics;
            impl Serialize for Panics {
                fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                    panic!("no form")
                }
            }
            std::panic::catch_unwind(|| RawJson::encode(&("begun", Panics))).unwrap_err();
            RawJson::encode(&"y".repeat(length)).unwrap()
        });
        all.push((length, 'x', RawJson::encode(&"x".repeat(length)).unwrap()));
        all.push((length, 'y', panicked.join().unwrap()));
    }
    for (length, letter, raw) in all {
        assert_eq!(raw.as_str(), format!("\"{}\"", letter.to_string().repeat(length)));
    }
}

/// The values of the thread are dropped in an order that a program does not choose.
#[test]
fn a_thread_that_ends_may_still_encode() {
    struct Late(mpsc::Sender<RawJson>);

    impl Drop for Late {
        fn drop(&mut self) {
            self.0.send(RawJson::encode(&"late").unwrap()).unwrap();
        }
    }

    thread_local! {
        static FIRST: RefCell<Option<Late>> = const { RefCell::new(None) };
        static LAST: RefCell<Option<Late>> = const { RefCell::new(None) };
    }

    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        FIRST.set(Some(Late(send.clone())));
        RawJson::encode(&1).unwrap();
        LAST.set(Some(Late(send)));
    });
    let late: Vec<_> = receive.iter().map(|raw| raw.to_string()).collect();
    assert_eq!(late, ["\"late\"", "\"late\""]);
}

#[test]
fn errors_travel_with_their_data() {
    let error = ErrorObject::invalid_params("no path").with_data(&["path"]);
    let text = serde_json::to_string(&error).unwrap();
    assert_eq!(text, r#"{"code":-32602,"message":"invalid params: no path","data":["path"]}"#);
    assert_eq!(serde_json::from_str::<ErrorObject>(&text).unwrap(), error);
    let bare: ErrorObject = serde_json::from_str(r#"{"message":"m","code":-1,"data":null}"#).unwrap();
    assert_eq!(bare, ErrorObject::new(-1, "m"));
    let rows = [
        (r#"{"code":-1,"message":null}"#, "error -1"),
        (r#"{"code":-1.0,"message":"m"}"#, "m (-1)"),
        (r#"{"code":9223372036854775808,"message":"m"}"#, "9223372036854775808: m (-32603)"),
        (r#"{"code":-1e30,"message":"m"}"#, "-1e30: m (-32603)"),
        (r#"{"code":9223372036854775807,"message":"m"}"#, "m (9223372036854775807)"),
    ];
    for (text, shown) in rows {
        let error: ErrorObject = serde_json::from_str(text).unwrap();
        assert_eq!(error.to_string(), shown, "{text}");
    }
}

#[test]
fn half_pairs_are_made_whole_and_nothing_else_is_copied() {
    let plain = RawJson::parse(r#"["\ud83d\ude00"]"#.into()).unwrap();
    assert_eq!(plain.clone().with_whole_pairs(), plain);
    let half = RawJson::parse(r#"["\ud83d", {"\udE00":"\\ud83d"}]"#.into()).unwrap();
    assert_eq!(half.with_whole_pairs().as_str(), r#"["\ufffd", {"\ufffd":"\\ud83d"}]"#);
}

#[test]
fn debug_output_escapes_json_of_a_peer() {
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

#[test]
fn values_of_ones_own_become_objects() {
    let made: RawObject = json!({ "a": [1] }).as_object().unwrap().clone().into();
    assert_eq!(made.as_str(), r#"{"a":[1]}"#);
    assert_eq!(RawObject::encode(&json!({ "a": 1 })).unwrap().as_raw().as_str(), r#"{"a":1}"#);
    assert!(RawObject::encode(&5).is_err());
    assert!(RawObject::try_from(RawJson::NULL).is_err());
    assert_eq!(agentwire_jsonrpc::wire::RawObjectBuilder::default().build(), RawObject::default());
    assert_eq!(format!("{made} {made:?}"), r#"{"a":[1]} {"a":[1]}"#);
}
