use std::collections::HashSet;

use agentwire_jsonrpc::{Frame, Message, RequestId};

use crate::{describe, parse, written};

fn request_with(id: &str) -> Frame {
    parse(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#))
}

fn id_of(id: &str) -> RequestId {
    match request_with(id) {
        Frame::Single(Message::Request(request)) => request.id,
        other => panic!("{id} is not an id: {other:?}"),
    }
}

#[test]
fn goes_back_byte_for_byte() {
    let ids = [
        "0",
        "-1",
        "1",
        "9007199254740993",
        "-9223372036854775808",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890123456789012345678901234567890",
        r#""\ud800""#,
        r#""\udc00x""#,
        "null",
        r#""""#,
        r#""1""#,
        r#""\u0031""#,
        r#""\/é\n\"\\""#,
        r#""\ud83d\ude00""#,
        r#""😀 abc-é""#,
    ];
    for id in ids {
        let frame = request_with(id);
        assert_eq!(describe(&frame), format!("request {id} m"));
        assert_eq!(written(&frame), format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#));
    }
}

#[test]
fn is_an_integer_a_string_or_null() {
    let others = [
        "-0",
        "-0.0",
        "0.5",
        "9007199254740992.0",
        "1e400",
        "18446744073709551616.0",
        "-1e30",
        "true",
        "[1]",
        "{}",
        &"9".repeat(1025),
        &format!("\"{}\"", "x".repeat(1023)),
    ];
    for id in others {
        assert_eq!(describe(&request_with(id)), "malformed -32600, answer null", "{id}");
    }
    // These are not even JSON.
    for id in ["01", "+1", "1.", ".5", "'1'", "\"\\x\"", "\"\u{1}\"", "nul"] {
        assert_eq!(describe(&request_with(id)), "malformed -32700, answer null", "{id}");
    }
}

#[test]
fn equality_is_of_values_and_kinds() {
    assert_eq!(id_of(r#""\u0031""#), id_of(r#""1""#));
    assert_ne!(id_of(r#""\u0031""#), id_of("1"));
    assert_ne!(id_of(r#""null""#), id_of("null"));
    assert_eq!(id_of("18446744073709551615"), RequestId::from(u64::MAX));
    assert_eq!(RequestId::from(7u64), RequestId::from(7i64));
    assert_eq!(RequestId::from("a\"b"), id_of(r#""\u0061\"b""#));

    let large = ["18446744073709551616", "18446744073709551617", "-18446744073709551616"];
    let half = [r#""\ud800""#, r#""\ud801""#, r#""\ufffd""#, r#""\"\\ud800\"""#];
    let plain = ["1", "-1", "18446744073709551615", r#""1""#, "null", r#""-1""#, r#""""#];
    let different = [&large[..], &half, &plain].concat();
    let same_again = [r#""\u0031""#, r#""\u002d1""#];
    let set: HashSet<_> = different.iter().copied().chain(same_again).map(id_of).collect();
    assert_eq!(set.len(), different.len());
}

#[test]
fn number_with_a_fraction_of_zeros_or_an_exponent_is_an_integer() {
    for (text, number) in [
        ("2.0", 2_i64),
        ("-2.00", -2),
        ("1e2", 100),
        ("20E-1", 2),
        ("0.0", 0),
        ("9007199254740991.0", 9_007_199_254_740_991),
    ] {
        assert_eq!(id_of(text), RequestId::from(number), "{text}");
        assert_eq!(serde_json::from_str::<RequestId>(text).unwrap(), RequestId::from(number), "{text}");
    }
    assert_eq!(serde_json::from_value::<RequestId>(serde_json::json!(2.0)).unwrap(), RequestId::from(2_i64));
    assert!(serde_json::from_value::<RequestId>(serde_json::json!(2.5)).is_err());
}

#[test]
fn number_in_text_is_that_of_a_string() {
    assert_eq!(id_of(r#""\u0032""#).number_in_text(), Some(RequestId::from(2_u64)));
    for id in ["2", r#""a""#, "null", r#""""#, r#""2.0""#] {
        assert_eq!(id_of(id).number_in_text(), None, "{id}");
    }
}

#[test]
fn tells_what_it_is() {
    assert_eq!(id_of("-5").as_i64(), Some(-5));
    assert_eq!(id_of("-5").as_u64(), None);
    assert_eq!(id_of("18446744073709551615").as_i64(), None);
    assert_eq!(id_of("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(id_of("9").as_u64(), Some(9));
    assert_eq!(id_of(r#""9""#).as_u64(), None);
    assert_eq!(id_of(r#""\u0061b""#).as_str().as_deref(), Some("ab"));
    assert!(id_of("null").is_null());
    assert!(!id_of(r#""null""#).is_null());
}

#[test]
fn travels_inside_params_too() {
    let large = "18446744073709551616";
    assert_eq!(id_of(large).as_u64(), None);
    assert_eq!(id_of(&"9".repeat(1024)).to_string().len(), 1024);
    for text in ["null", "0", "-3", "18446744073709551615", large, r#""a b""#, r#""\ud800""#] {
        let id: RequestId = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), text);
    }
    for text in ["1.5", "-0", "1e16", "true", "[]", "{}", &"9".repeat(1025)] {
        assert!(serde_json::from_str::<RequestId>(text).is_err(), "{text}");
    }
}

#[test]
fn is_read_from_a_value_and_from_text_alike() {
    for text in ["null", "0", "-3", "18446744073709551615", r#""a b""#] {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::from_value::<RequestId>(value.clone()).unwrap().to_string(), text);
        assert_eq!(<RequestId as serde::Deserialize>::deserialize(&value).unwrap().to_string(), text);

        #[derive(serde::Deserialize)]
        struct Outer {
            #[serde(flatten)]
            inner: Inner,
        }

        #[derive(serde::Deserialize)]
        struct Inner {
            id: RequestId,
        }

        let outer: Outer = serde_json::from_str(&format!(r#"{{"id":{text}}}"#)).unwrap();
        assert_eq!(outer.inner.id.to_string(), text);
    }
}
