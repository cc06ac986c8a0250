use agentwire_jsonrpc::{
    ErrorObject, Frame, Malformed, Message, Notification, RawJson, RequestId, Response, code,
};
use bytes::Bytes;
use bytestring::ByteString;

use crate::{describe, parse, written};

fn check(table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(describe(&parse(text)), *expected, "{text}");
    }
}

#[test]
fn messages() {
    check(&[
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}}"#, r#"request 1 m {"a":[1]}"#),
        (r#"{"params":[ 1 ],"method":"m","id":"x","jsonrpc":"2.0"}"#, r#"request "x" m [ 1 ]"#),
        (r#"{"method":"m","params":null,"jsonrpc":"2.0","id":null}"#, "request null m"),
        (r#"{"method":"m","jsonrpc":"2.0"}"#, "notification m"),
        (r#"{"jsonrpc":"2.0","method":"m","params":{},"_meta":{"x":1},"Method":2}"#, "notification m {}"),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1 null"),
        (r#"{"result":{"a":1},"id":1,"jsonrpc":"2.0"}"#, r#"result 1 {"a":1}"#),
        (r#"{"jsonrpc":"2.0","id":1,"result":7,"error":null}"#, "result 1 7"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#, "error 1 -1"),
        (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-1,"message":"no"}}"#, "error 1 -1"),
        (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no","more":1}}"#, "error null -32700"),
        // The call has failed in any case.
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"no"}}"#, "error 1 -32603"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-5.0,"message":null}}"#, "error 1 -5"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}"#, "error 1 -32603"),
        (r#"{"jsonrpc":"2.0","result":1}"#, "result null 1"),
        ("\t\r\n {\"jsonrpc\":\"2.0\",\"method\":\"m\"} \n", "notification m"),
    ]);
}

#[test]
fn names_and_version_may_be_escaped() {
    check(&[
        (r#"{"jsonrpc":"2\u002e0","id":1,"method":"m"}"#, "request 1 m"),
        (r#"{"jsonrpc":"2.0","\u0069d":1,"m\u0065thod":"a\/\u0062"}"#, "request 1 a/b"),
        (r#"{"jsonrpc":"2.0","i\\u0064":1,"method":"m"}"#, "notification m"),
    ]);
}

#[test]
fn malformed_requests_are_answered_under_their_id() {
    check(&[
        (r#"{"id":1,"method":"m"}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":"2\u002e1","id":1,"method":"m"}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":null,"method":"m","id":"a"}"#, r#"malformed -32600, answer "a""#),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":5}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":"a"}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":"2.0","id":1,"params":{}}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":null,"params":[]}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":"2.0","id":null}"#, "malformed -32600, answer null"),
        (r#"{"jsonrpc":"2.0"}"#, "malformed -32600, answer null"),
        (r#"{"jsonrpc":"2.0","method":1}"#, "malformed -32600, answer null"),
        ("{}", "malformed -32600, answer null"),
    ]);
}

#[test]
fn message_without_a_method_is_a_response_or_may_be_one() {
    check(&[
        (r#"{"jsonrpc":"2.0","id":1,"method":null,"result":2}"#, "result 1 2"),
        (r#"{"jsonrpc":"2.0","id":1,"method":null,"params":null,"result":2,"error":null}"#, "result 1 2"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":null,"result":null,"error":{"code":3,"message":""}}"#,
            "error 1 3",
        ),
        (r#"{"id":1,"method":null,"result":2}"#, "malformed -32600, fails 1"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "malformed -32600, fails or answer 1"),
        (r#"{"id":1}"#, "malformed -32600, fails or answer 1"),
        (
            r#"{"jsonrpc":"2.0","id":"a","method":null,"params":null}"#,
            r#"malformed -32600, fails or answer "a""#,
        ),
    ]);
    let frame = parse(r#"{"jsonrpc":"2.0","id":1}"#);
    assert!(frame.answers(&1_u64.into()) && !frame.answers(&2_u64.into()));
    assert!(written(&frame).contains(r#""id":1,"error""#));
}

/// Some servers write the result into the object of the request. An answer is never answered.
#[test]
fn answer_with_a_method_fails_its_call() {
    check(&[
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#, "malformed -32600, fails 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{},"result":{}}"#, "malformed -32600, fails 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":5,"result":1}"#, "malformed -32600, fails 1"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":null,"error":{"code":1,"message":""}}"#,
            "malformed -32600, fails 1",
        ),
        (r#"{"id":"a","method":"m","error":{}}"#, r#"malformed -32600, fails "a""#),
        // Null is how some serializers write that there is no such member.
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":null,"error":null}"#, "request 1 m"),
        (r#"{"jsonrpc":"2.0","method":"m","result":1}"#, "notification m"),
    ]);
    let Frame::Malformed(malformed) = parse(r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#) else {
        panic!("an answer has no method");
    };
    assert!(malformed.error.message.contains("an answer has no member \"method\""), "{malformed:?}");
}

/// Each fails its call, wherever it stands in the line.
#[test]
fn responses_within_other_text_are_found() {
    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"id":3,"result":{}}}"#;
    let request = r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#;
    let table = [
        (r#"{"jsonrpc":"2.0","id":99,"result":{}}ANSWER"#, "malformed -32700, fails each of 99 2"),
        ("ANSWERANSWER", "malformed -32700, fails each of 2 2"),
        (r#"{"jsonrpc":"2.0","method":"m","params":{}} ANSWER"#, "malformed -32700, fails each of 2"),
        ("REQUESTANSWER", "malformed -32700, fails each of 2, answer null"),
        ("[INFO] 12:00 sending ANSWER", "malformed -32700, fails each of 2"),
        ("[INFO {x} ANSWER", "malformed -32700, fails each of 2"),
        ("data: ANSWER", "malformed -32700, fails each of 2"),
        ("\0ANSWER", "malformed -32700, fails each of 2"),
        ("\u{1e}ANSWER", "malformed -32700, fails each of 2"),
        ("/* x */ ANSWER", "malformed -32700, fails each of 2"),
        ("Content-Length: 90 ANSWERContent-Length: 90", "malformed -32700, fails each of 2"),
        ("> {'id': 2, 'error': {}}", "malformed -32700, fails each of 2"),
        ("[[ANSWER]]", "batch [malformed -32600, fails each of 2]"),
        ("[REQUEST,ANSWER,]", "malformed -32700, fails each of 2, answer null"),
        // One answer alone, and what is not one.
        ("ANSWER done", "malformed -32700, fails 2"),
        ("REQUESTREQUEST", "malformed -32700, answer null"),
        (
            r#"noise {"id":2} {"result":1} {"id":2,"method":"m","result":1}"#,
            "malformed -32700, fails each of 2",
        ),
        (
            r#"noise {"id":2} {"result":1} {"id":2,"method":"m","result":null}"#,
            "malformed -32700, answer null",
        ),
        (r#"noise {"a":{"id":2,"result":1}}"#, "malformed -32700, answer null"),
        (r#""{\"id\":2,\"result\":1}""#, "malformed -32600, answer null"),
    ];
    for (text, expected) in table {
        let text = text.replace("ANSWER", ANSWER).replace("REQUEST", request);
        check(&[(&text, expected)]);
        assert_eq!(parse(&text).answers(&2_u64.into()), expected.contains("fails"), "{text}");
    }
    let many = format!("x {}", ANSWER.repeat(1000));
    assert_eq!(describe(&parse(&many)).matches(" 2").count(), 64);
    for hostile in ["{".repeat(1 << 20), r#"{"id":"#.repeat(1 << 18), r#"{"{'"#.repeat(1 << 18)] {
        describe(&parse(&format!("x {hostile}")));
    }
}

#[test]
fn malformed_notifications_are_not_answered() {
    check(&[
        (r#"{"method":"m"}"#, "malformed -32600, silent"),
        (r#"{"jsonrpc":"2.0","method":"m","params":true}"#, "malformed -32600, silent"),
        (r#"{"jsonrpc":"2.0","method":"m","method":"m"}"#, "malformed -32600, silent"),
    ]);
}

#[test]
fn malformed_responses_fail_their_call() {
    check(&[
        (r#"{"id":1,"result":1}"#, "malformed -32600, fails 1"),
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, "malformed -32600, fails 1"),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "malformed -32600, fails 1"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, "malformed -32600, fails 1"),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#,
            "malformed -32600, fails 1",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"result":2}"#, "malformed -32600, fails 1"),
        (r#"{"jsonrpc":"2.0","id":1.5,"result":1}"#, "malformed -32600, fails null"),
    ]);
}

#[test]
fn repeated_members_are_refused() {
    check(&[
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, "malformed -32600, answer 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"a"}"#, "malformed -32600, answer 1"),
        // There is no telling which id the sender waits for.
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#, "malformed -32600, answer null"),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"a"}"#, "malformed -32600, answer null"),
        (r#"{"jsonrpc":"2.0","id":1,"id":1,"result":1}"#, "malformed -32600, fails null"),
        // A member that is not read may be repeated.
        (r#"{"jsonrpc":"2.0","x":1,"x":2,"method":"a"}"#, "notification a"),
    ]);
}

#[test]
fn names_that_serde_json_gives_a_meaning_are_refused() {
    check(&[
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"$serde_json::private::RawValue":"[1]"}}}"#,
            "malformed -32600, answer 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[{"\u0024serde_json::priv\u0061te::Number":"1"}]}"#,
            "malformed -32600, answer 1",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":{"$serde_json::private::RawValue":"1"}}"#,
            "malformed -32600, silent",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"b":1,"$serde_json::private::RawValue":"1"}}"#,
            "malformed -32600, fails 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":{"$serde_json::private::RawValue":"1"}}}"#,
            "malformed -32600, fails 1",
        ),
        (
            r#"[{"jsonrpc":"2.0","method":"m","params":{"$serde_json::private::Number":"1"}},{"jsonrpc":"2.0","method":"n"}]"#,
            "batch [malformed -32600, silent, notification n]",
        ),
        // As a value it is text like any other.
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":["$serde_json::private::RawValue"]}"#,
            r#"request 1 m ["$serde_json::private::RawValue"]"#,
        ),
    ]);
}

#[test]
fn names_that_are_cut_inside_a_character_are_names_that_nobody_knows() {
    check(&[
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","\ud800":1}"#, "request 1 m"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","\ud800":1"#, "malformed -32700, answer null"),
        (r#"[{"\udc00":1,"jsonrpc":"2.0","method":"m"}]"#, "batch [notification m]"),
    ]);
}

#[test]
fn text_that_is_no_json() {
    check(&[
        ("", "malformed -32700, answer null"),
        ("Server listening on :8080", "malformed -32700, answer null"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m""#, "malformed -32700, answer null"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m"}}"#, "malformed -32700, answer null"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m"} {}"#, "malformed -32700, answer null"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{a:1}}"#, "malformed -32700, answer null"),
        (r#"[{"jsonrpc":"2.0","method":"m"}"#, "malformed -32700, answer null"),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"a\nb\"}", "malformed -32700, answer null"),
        // By its grammar this is JSON, but the name stands for no text.
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":["\ud800"]}"#, r#"request 1 m ["\ud800"]"#),
        ("x\u{feff}{}", "malformed -32700, answer null"),
        ("7", "malformed -32600, answer null"),
        ("\"text\"", "malformed -32600, answer null"),
        ("null", "malformed -32600, answer null"),
    ]);
    let frame = Frame::parse_bytes(Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"));
    assert_eq!(describe(&frame), "malformed -32700, answer null");
}

#[test]
fn byte_order_mark_is_passed_over() {
    check(&[
        ("\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", "notification m"),
        ("\u{feff} [{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}]", "batch [result 1 2]"),
        (&"\u{feff}".repeat(100_000), "malformed -32700, answer null"),
    ]);
    assert_eq!(agentwire_jsonrpc::read_bytes::<Vec<u8>>("\u{feff}[1]".as_bytes()).unwrap(), [1]);
}

#[test]
fn unreadable_answer_fails_its_call() {
    check(&[
        (r#"{"jsonrpc":"2.0","id":2,"result":{"a":NaN}}"#, "malformed -32700, fails 2"),
        (r#"{"result":[-Infinity,{"id":3}],"id":"a","jsonrpc":"2.0"}"#, r#"malformed -32700, fails "a""#),
        (r#"{"id":2,"error":{"code":1,"message":"a"#, "malformed -32700, fails 2"),
        ("{\"result\":\"a\nb\",\"id\":2}", "malformed -32700, fails 2"),
        (r#"{'id': 2, 'result': {'a': 'b'}}"#, "malformed -32700, fails 2"),
        // The id cannot be determined.
        (r#"{"jsonrpc":"2.0","id":NaN,"result":1}"#, "malformed -32700, fails null"),
        (r#"{"id":1,"id":2,"result":NaN}"#, "malformed -32700, fails null"),
        (r#"{"result":NaN,"id":12"#, "malformed -32700, fails null"),
        // Requests are answered under null, as JSON-RPC demands of text that is not JSON.
        (r#"{"jsonrpc":"2.0","id":2,"method":"m","params":[NaN]}"#, "malformed -32700, answer null"),
        (r#"{"jsonrpc":"2.0","id":2,"method":"m","result":NaN}"#, "malformed -32700, fails 2"),
        (r#"{"jsonrpc":"2.0","method":"m","result":NaN}"#, "malformed -32700, answer null"),
        (
            r#"[{"id":2,"result":NaN}, {"jsonrpc":"2.0","id":3,"result":4}, {"result":"#,
            "batch [malformed -32700, fails 2, malformed -32700, fails 3, malformed -32700, fails null]",
        ),
        (
            r#"[{"id":2,"result":NaN},{"jsonrpc":"2.0","id":2,"method":"m"}]"#,
            "malformed -32700, fails each of 2, answer null",
        ),
    ]);
}

#[test]
fn batches() {
    check(&[
        (
            r#" [ {"jsonrpc":"2.0","id":1,"method":"m"} , {"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":2,"result":0}]"#,
            "batch [request 1 m, notification n, result 2 0]",
        ),
        ("[1,[],\"\",{}]", &format!("batch [{}]", ["malformed -32600, answer null"; 4].join(", "))),
        (
            r#"[{"jsonrpc":"2.0","id":3,"method":5},{"method":"n"},{"id":4,"result":1}]"#,
            "batch [malformed -32600, answer 3, malformed -32600, silent, malformed -32600, fails 4]",
        ),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"m"},]"#, "malformed -32700, answer null"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}] x"#, "malformed -32700, answer null"),
        ("[]", "malformed -32600, answer null"),
    ]);
}

#[test]
fn a_batch_over_the_limit_is_refused_by_name() {
    let message = r#"{"jsonrpc":"2.0","method":"m"}"#;
    let batch = |count| format!("[{}]", vec![message; count].join(","));
    let Frame::Batch(messages) = Frame::parse_with(batch(3).into(), 3) else { panic!("three are allowed") };
    assert_eq!(messages.len(), 3);

    let Frame::Malformed(Malformed { error, .. }) = Frame::parse_with(batch(4).into(), 3) else {
        panic!("four are too many")
    };
    assert_eq!(error.code, code::INVALID_REQUEST);
    assert_eq!(error.data.unwrap().as_str(), r#"{"limit":3}"#);

    // What stands behind the limit is not looked at: taking it would cost what the limit is there to save.
    let open_ended = format!("[{message},{message},{message},{message},");
    assert_eq!(describe(&Frame::parse_with(open_ended.into(), 3)), "malformed -32600, answer null");
}

#[test]
fn params_and_result_share_the_memory_of_the_text() {
    let text = ByteString::from(
        r#"[{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"b"}},{"jsonrpc":"2.0","id":1,"result":[1]}]"#,
    );
    let memory = text.as_bytes().as_ptr_range();
    let Frame::Batch(messages) = Frame::parse(text.clone()) else { panic!("a batch") };
    for message in messages {
        let body = message.unwrap().body().unwrap().clone();
        let slice = body.as_str().as_bytes().as_ptr_range();
        assert!(memory.start < slice.start && slice.end < memory.end);
    }
}

/// A handler holds the method of its request while it runs.
#[test]
fn a_method_does_not_hold_a_long_message() {
    let text =
        ByteString::from(format!(r#"{{"jsonrpc":"2.0","method":"m","params":["{}"]}}"#, "x".repeat(100_000)));
    let memory = text.as_bytes().as_ptr_range();
    let Frame::Single(Message::Notification(notification)) = Frame::parse(text.clone()) else {
        panic!("a notification")
    };
    assert_eq!(notification.method, "m");
    assert!(!memory.contains(&notification.method.as_bytes().as_ptr()));
}

#[test]
fn writes_one_line_whatever_it_was_made_of() {
    let pretty = "{\n \"jsonrpc\": \"2.0\",\r\n \"id\": 1,\n \"method\": \"m\",\n \"params\": {\n  \"a\\n\": 1\r\n }\n}";
    assert_eq!(written(&parse(pretty)), r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{   "a\n": 1   }}"#);

    let failed =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"a\\nb\",\"data\":[1,\n2]}}";
    assert_eq!(
        written(&parse(failed)),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a\nb","data":[1, 2]}}"#
    );

    let method = Frame::from(Message::from(Notification::new("a\n\"b", None)));
    assert_eq!(written(&method), r#"{"jsonrpc":"2.0","method":"a\n\"b"}"#);
}

#[test]
fn malformed_message_is_written_as_its_answer() {
    let frame = parse(r#"[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":3,"method":5}]"#);
    let text = written(&frame);
    assert_eq!(describe(&parse(&text)), "batch [notification n, error 3 -32600]");
    assert_eq!(describe(&parse(&written(&parse("{")))), "error null -32700");
}

#[test]
fn head_body_and_tail_are_the_message() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","method":"m","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":"a","result":null}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m","data":[1]}}"#,
    ] {
        let Frame::Single(message) = parse(text) else { panic!("{text}") };
        let mut out = Vec::new();
        message.write_head(&mut out);
        out.extend(message.body().map(RawJson::as_str).unwrap_or_default().bytes());
        message.write_tail(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}

#[test]
fn the_size_hint_counts_all_that_may_be_large() {
    let large = "x".repeat(10_000);
    let error = ErrorObject::new(1, large.clone());
    let messages = [
        Message::from(Notification::new(large.clone(), None)),
        Response::new(large.as_str(), Ok(RawJson::NULL)).into(),
        Response::new(1i64, Err(error.clone())).into(),
        Response::new(1i64, Err(ErrorObject::new(1, "").with_data(&large))).into(),
        Notification::new("m", Some(RawJson::encode(&[&large]).unwrap())).into(),
    ];
    for message in &messages {
        assert!(message.size_hint() >= 10_000, "{}", message.size_hint());
    }
    let batch = Frame::Batch(vec![Ok(messages[0].clone()), Err(Malformed::request(RequestId::NULL, error))]);
    assert!(batch.size_hint() >= 20_000);
}
