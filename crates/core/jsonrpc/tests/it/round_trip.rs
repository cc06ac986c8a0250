use agentwire_jsonrpc::{ErrorObject, Frame, Message, Notification, RawJson, Request, RequestId, Response};
use bytestring::ByteString;
use proptest::prelude::*;
use serde_json::{Value, json};

fn id() -> impl Strategy<Value = RequestId> {
    prop_oneof![
        any::<i64>().prop_map(RequestId::from),
        any::<u64>().prop_map(RequestId::from),
        ".*".prop_map(|text| RequestId::from(text.as_str())),
        Just(RequestId::NULL),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".*", inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// As a peer might write it that likes its JSON readable.
fn raw(value: &Value, pretty: bool) -> RawJson {
    if pretty {
        RawJson::parse(serde_json::to_string_pretty(value).unwrap().into()).unwrap()
    } else {
        RawJson::encode(value).unwrap()
    }
}

fn params() -> impl Strategy<Value = Option<RawJson>> {
    let wrapped = prop_oneof![
        value().prop_map(|value| json!([value])),
        (".*", value()).prop_map(|(name, value)| json!({ name: value })),
    ];
    prop::option::of((wrapped, any::<bool>()).prop_map(|(value, pretty)| raw(&value, pretty)))
}

fn error() -> impl Strategy<Value = ErrorObject> {
    (any::<i64>(), ".*", prop::option::of(value().prop_filter("null is no data", |value| !value.is_null())))
        .prop_map(|(code, message, data)| {
            let error = ErrorObject::new(code, message);
            data.iter().fold(error, |error, data| error.with_data(data))
        })
}

fn message() -> impl Strategy<Value = Message> {
    let result = (value(), any::<bool>()).prop_map(|(value, pretty)| raw(&value, pretty));
    prop_oneof![
        (id(), ".*", params()).prop_map(|(id, method, params)| Request::new(id, method, params).into()),
        (".*", params()).prop_map(|(method, params)| Notification::new(method, params).into()),
        (id(), result).prop_map(|(id, result)| Response::new(id, Ok(result)).into()),
        (id(), error()).prop_map(|(id, error)| Response::new(id, Err(error)).into()),
    ]
}

fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        message().prop_map(Frame::Single),
        prop::collection::vec(message().prop_map(Ok), 1..5).prop_map(Frame::Batch),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_frame_is_read_back(frame in frame()) {
        let mut out = Vec::new();
        frame.write(&mut out);
        prop_assert!(!out.contains(&b'\n') && !out.contains(&b'\r'));
        let text = ByteString::try_from(out).unwrap();
        prop_assert_eq!(Frame::parse(text), frame);
    }
}

/// A response with a result fills the capacity that it asks for.
#[test]
fn the_capacity_of_a_response_is_its_length() {
    let ids = [
        "null",
        "0",
        "-7",
        "10",
        "18446744073709551615",
        "-9223372036854775808",
        r#""a\u0062""#,
        "99999999999999999999",
    ];
    for id in ids {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":1}}}}"#);
        let Frame::Single(message) = Frame::parse(text.clone().into()) else { panic!("{text}") };
        let mut written = Vec::new();
        message.write(&mut written);
        assert_eq!((written.len(), message.capacity()), (text.len(), text.len()), "{text}");
    }
}
