//! Outgoing calls: responses, deadlines, the end of the connection.

use std::time::Duration;

use agentwire_connection::{CallFailure, CallId, CallOptions, Config, Dialect, Event};
use agentwire_jsonrpc::{ErrorObject, RawJson, RequestId, code};

use crate::{One, SECOND, failed, json, ok, refusal, text, timed_out, timeout};

#[test]
fn responses_find_their_calls_in_any_order() {
    let mut one = One::acp();
    let first = one.call(CallOptions::new());
    let second = one.call(CallOptions::new());
    assert_eq!((first.request_id(), second.request_id()), (1u64.into(), 2u64.into()));
    assert_eq!(one.connection.calls_in_flight(), 2);

    one.receive_result("2", "[2]");
    one.receive(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":{"a":1}}}"#);
    let refused = ErrorObject::new(code::METHOD_NOT_FOUND, "no").with_data(&serde_json::json!({"a":1}));
    assert_eq!(one.take_events(), [ok(second, "[2]"), failed(first, CallFailure::Refused(refused))]);
    one.assert_idle();
}

#[test]
fn response_with_another_id_is_unmatched() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    for id in ["-1", "2", "0", "18446744073709551615", r#""2""#, r#""a""#] {
        one.receive_result(id, "true");
        assert!(matches!(&one.take_events()[..], [Event::UnmatchedResponse(_)]), "{id}");
    }
    one.receive_result("1", "null");
    assert_eq!(one.take_events(), [ok(call, "null")]);
}

#[test]
fn integer_with_a_fraction_of_zeros_is_the_integer() {
    for id in ["1.0", "1.00", "1e0", "10e-1"] {
        let mut one = One::acp();
        let call = one.call(CallOptions::new());
        one.receive_result(id, "true");
        assert_eq!(one.take_events(), [ok(call, "true")], "{id}");
    }
}

/// The reason of the failure of a call, which must be the only event.
#[track_caller]
fn malformed(one: &mut One, call: CallId) -> String {
    match &one.take_events()[..] {
        [Event::CallEnded { call: ended, outcome: Err(CallFailure::Malformed(error)) }] if *ended == call => {
            error.message.to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn unreadable_response_fails_its_call_with_the_reason() {
    let text = [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}"#, "expected value"),
        (r#"{"jsonrpc":"2.0","result":{"a":Infinity},"id":1}"#, "expected value"),
        (r#"{"id":1,"result":[1,2"#, "EOF"),
        (r#"{"result":{"a":'b'},"id":1,"jsonrpc":"2.0"}"#, "expected value"),
        (r"{'jsonrpc': '2.0', 'id': 1, 'result': {'a': None}}", "key must be a string"),
        (r#"{"jsonrpc":"2.0","id":"1","result":true}"#, "is a string"),
        (r#"{"jsonrpc":"2.0","id":"\u0031","error":{"code":1,"message":""}}"#, "is a string"),
        (r#"[{"jsonrpc":"2.0","id":1,"result":true}]"#, "in an array"),
        (r#"[{"jsonrpc":"2.0","id":1,"result":NaN}]"#, "in an array"),
        // The response belongs to the only open call.
        (r#"{"jsonrpc":"2.0","id":1.5,"result":true}"#, "must be an integer"),
        (r#"{"jsonrpc":"2.0","id":NaN,"result":true}"#, "expected value"),
    ];
    for (text, why) in text {
        for mut one in [One::acp(), One::mcp()] {
            let call = one.call(CallOptions::new());
            one.receive(text);
            let reason = malformed(&mut one, call);
            assert!(reason.contains(why), "{text}: {reason}");
            assert_eq!(one.take_sent(), [""; 0], "an answer is not answered");
            one.assert_idle();
        }
    }
}

/// JavaScript leaves out a result that is undefined, and some serializers write every member.
#[test]
fn message_without_a_method_is_the_response_to_the_open_call_with_its_id() {
    for text in [r#"{"jsonrpc":"2.0","id":ID}"#, r#"{"id":ID,"method":null,"jsonrpc":"2.0"}"#] {
        for mut one in [One::acp(), One::mcp()] {
            let call = one.call(CallOptions::new());
            one.receive(&text.replace("ID", "1"));
            assert!(malformed(&mut one, call).contains("\"result\""));
            assert_eq!(one.take_sent(), [""; 0], "an answer is not answered");
            // If no such call is open, the message is a request.
            for id in ["1", "7", "\"a\""] {
                one.receive(&text.replace("ID", id));
                assert_eq!(one.take_events(), []);
                let (refused, error) = refusal(&one.take_sent());
                assert_eq!((&*refused, error.code), (id, code::INVALID_REQUEST));
            }
            one.assert_idle();
        }
    }
    let mut one = One::mcp();
    let call = one.call(CallOptions::new());
    one.receive(r#"{"jsonrpc":"2.0","id":1,"method":null,"params":null,"result":2,"error":null}"#);
    assert_eq!(one.take_events(), [ok(call, "2")]);
    one.assert_idle();
}

/// The line may be a log of the response, which then follows.
#[test]
fn response_within_other_text_fails_its_call_after_a_wait() {
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":1}"#;
    for prefix in
        [r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, r#"{"jsonrpc":"2.0","method":"m"}"#, "[INFO] ", "\0"]
    {
        let mut one = One::mcp();
        let calls = [one.call(timeout(60)), one.call(timeout(60))];
        one.receive(&format!("{prefix}{answer}"));
        assert!(matches!(&one.take_events()[..], [Event::Unreadable(_)]));
        assert_eq!(one.take_sent(), [""; 0], "an answer is not answered");
        one.receive_result("2", "3");
        assert_eq!(one.take_events(), [ok(calls[1], "3")]);

        let call = one.call(timeout(60));
        one.receive(&format!("{prefix}{}", answer.replace('2', "3").replace("3.0", "2.0")));
        one.take_events();
        one.at(SECOND);
        assert!(malformed(&mut one, call).contains("parse error"));
        one.receive_result("1", "1");
        assert_eq!(one.take_events(), [ok(calls[0], "1")]);
    }
    let mut one = One::mcp();
    let call = one.call(timeout(60));
    one.receive(r#"{"jsonrpc":"2.0","id":7,"method":"m"}{"jsonrpc":"2.0","id":1,"result":1}"#);
    assert_eq!(refusal(&one.take_sent()).0, "null", "the request is answered");
    one.take_events();
    one.at(SECOND);
    assert!(malformed(&mut one, call).contains("parse error"));
    one.take_sent();
    let call = one.call(timeout(60));
    one.receive(r#"[[{"jsonrpc":"2.0","id":2,"result":1}]]"#);
    assert!(malformed(&mut one, call).contains("in an array"));
}

#[test]
fn response_that_is_not_utf8_fails_its_call() {
    for answer in [&b"{\"id\":1,\"result\":\"\xff\"}"[..], b"{\"result\":\"\xe9t\xe9\",\"id\":1}"] {
        let mut one = One::acp();
        let call = one.call(CallOptions::new());
        let mut lines = agentwire_jsonrpc::LineDecoder::default();
        lines.push(answer);
        one.connection.handle_frame(one.now, lines.finish().unwrap().into());
        assert!(malformed(&mut one, call).contains("not UTF-8"));
    }
}

/// The time until the only call fails.
const SHORT_GRACE: Duration = Duration::from_millis(250);

const COMPLAINT: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#;

fn refused(call: CallId) -> Event {
    failed(call, CallFailure::Refused(ErrorObject::new(code::PARSE_ERROR, "no")))
}

/// The only call fails after 250 ms, because the error may concern no message of this side.
#[test]
fn error_without_an_id_fails_the_only_call_after_a_wait() {
    for complaint in [COMPLAINT, &COMPLAINT.replace(r#""id":null,"#, "")] {
        let mut one = One::mcp();
        let call = one.call(CallOptions::new());
        one.receive(complaint);
        one.receive(complaint);
        assert!(one.take_events().iter().all(|event| matches!(event, Event::UnmatchedResponse(_))));
        one.receive_result("1", "1");
        assert_eq!(one.take_events(), [ok(call, "1")]);
        let call = one.call(CallOptions::new());
        one.receive(complaint);
        one.take_events();
        one.at(SHORT_GRACE);
        assert_eq!(one.take_events(), [refused(call)]);
        one.take_sent();
        // The peer sends its error and closes.
        let call = one.call(CallOptions::new());
        one.receive(complaint);
        one.take_events();
        one.connection.handle_end();
        assert_eq!(one.take_events(), [refused(call)]);
    }
}

/// The result may be noise, so the call fails after a second.
#[test]
fn result_without_an_id_fails_the_only_call_after_a_wait() {
    for result in [r#"{"jsonrpc":"2.0","id":null,"result":1}"#, r#"{"jsonrpc":"2.0","result":1}"#] {
        let mut one = One::mcp();
        let call = one.call(timeout(60));
        one.receive(result);
        assert!(matches!(&one.take_events()[..], [Event::UnmatchedResponse(_)]));
        one.receive_result("1", "1");
        assert_eq!(one.take_events(), [ok(call, "1")]);
        one.call(timeout(60));
        one.receive(result);
        one.take_events();
        one.at(SECOND);
        assert!(matches!(
            &one.take_events()[..],
            [Event::CallEnded { outcome: Err(CallFailure::Malformed(_)), .. }]
        ));
    }
}

#[test]
fn error_without_an_id_fails_the_remaining_call_without_a_timeout() {
    let mut one = One::mcp();
    let calls = [one.call(CallOptions::new()), one.call(CallOptions::new())];
    one.receive(COMPLAINT);
    assert!(matches!(&one.take_events()[..], [Event::UnmatchedResponse(_)]));
    one.receive_result("1", "1");
    assert_eq!(one.take_events(), [ok(calls[0], "1")]);
    one.at(SECOND);
    assert_eq!(one.take_events(), [refused(calls[1])]);
}

#[test]
fn error_without_an_id_may_belong_to_a_call_that_was_cancelled() {
    let mut one = One::mcp();
    let calls = [one.call(CallOptions::new()), one.call(CallOptions::new())];
    one.receive(COMPLAINT);
    one.take_events();
    one.connection.cancel(calls[1], "");
    one.take_sent();
    one.take_events();
    let third = one.call(CallOptions::new());
    one.receive_result("3", "3");
    assert_eq!(one.take_events(), [ok(third, "3")]);
    one.at(SECOND + SECOND);
    assert_eq!(one.take_events(), []);
}

/// Some servers report an unknown notification, and then answer the call behind it.
#[test]
fn error_without_an_id_after_a_notification_fails_the_call_after_a_wait() {
    let mut one = One::mcp();
    one.notify("notifications/initialized");
    one.take_sent();
    let call = one.call(timeout(60));
    one.receive(COMPLAINT);
    assert!(matches!(&one.take_events()[..], [Event::UnmatchedResponse(_)]));
    one.receive_result("1", "1");
    assert_eq!(one.take_events(), [ok(call, "1")]);
    // The server has read the messages before that call.
    let call = one.call(timeout(60));
    one.receive(COMPLAINT);
    one.take_events();
    one.at(SHORT_GRACE);
    assert_eq!(one.take_events(), [refused(call)]);

    let mut one = One::mcp();
    one.notify("notifications/initialized");
    one.take_sent();
    let call = one.call(timeout(60));
    one.receive(COMPLAINT);
    one.take_events();
    one.at(SECOND);
    assert_eq!(one.take_events(), [refused(call)]);

    let mut one = One::mcp();
    one.notify("notifications/initialized");
    one.take_sent();
    let call = one.call(timeout(60));
    one.receive(COMPLAINT);
    one.receive(
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
    );
    one.take_events();
    one.at(59 * SECOND);
    assert_eq!(one.take_events(), [], "progress shows that the error concerned another message");
    one.at(60 * SECOND);
    assert_eq!(one.take_events(), [timed_out(call, 60 * SECOND)]);
}

/// After a notification, the call fails after a second. The error for an unknown method concerns the notification.
#[test]
fn error_without_an_id_after_a_notification_fails_the_call_soon_whatever_its_code() {
    for (code, fails) in [(-32603, true), (-32602, true), (1, true), (-32601, false)] {
        let mut one = One::mcp();
        one.notify("notifications/initialized");
        one.take_sent();
        let call = one.call(timeout(60));
        one.receive(&COMPLAINT.replace("-32700", &code.to_string()));
        assert!(matches!(&one.take_events()[..], [Event::UnmatchedResponse(_)]));
        one.at(SECOND);
        let refused = failed(call, CallFailure::Refused(ErrorObject::new(code, "no")));
        assert_eq!(one.take_events(), Vec::from_iter(fails.then_some(refused)), "{code}");
    }
}

/// The error belongs to the call that stays unanswered.
#[test]
fn error_without_an_id_fails_the_last_of_several_calls_soon() {
    let mut one = One::mcp();
    let calls: Vec<_> = (0..3).map(|_| one.call(timeout(60))).collect();
    one.receive(COMPLAINT);
    let later = one.call(timeout(60));
    one.take_events();
    one.receive_result("3", "1");
    one.at(59 * SECOND / 2);
    assert_eq!(one.take_events(), [ok(calls[2], "1")], "two are open");
    one.receive_result("1", "1");
    one.take_events();
    one.at(61 * SECOND / 2);
    assert_eq!(one.take_events(), [refused(calls[1])]);
    one.receive_result("4", "1");
    assert_eq!(one.take_events(), [ok(later, "1")]);

    // Now all calls are answered.
    one.take_sent();
    let calls: Vec<_> = (0..2).map(|_| one.call(CallOptions::new())).collect();
    one.receive(COMPLAINT);
    one.take_events();
    one.receive_result("5", "1");
    one.receive_result("6", "1");
    assert_eq!(one.take_events(), [ok(calls[0], "1"), ok(calls[1], "1")]);
    let call = one.call(CallOptions::new());
    one.at(90 * SECOND);
    one.receive_result("7", "1");
    assert_eq!(one.take_events(), [ok(call, "1")]);
}

#[test]
fn error_without_an_id_before_a_later_notification_fails_no_call() {
    let mut one = One::mcp();
    let call = one.call(timeout(60));
    one.notify("note");
    one.receive(COMPLAINT);
    assert!(matches!(&one.take_events()[..], [Event::UnmatchedResponse(_)]));
    one.at(59 * SECOND);
    assert_eq!(one.take_events(), []);
    one.receive_result("1", "1");
    assert_eq!(one.take_events(), [ok(call, "1")]);
}

#[test]
fn responses_in_a_refused_array_fail_their_calls() {
    let mut one = One::mcp();
    let calls = [one.call(CallOptions::new()), one.call(CallOptions::new()), one.call(CallOptions::new())];
    one.receive(
        r#"[{"jsonrpc":"2.0","id":1,"result":1},{"id":2,"result":1},{"jsonrpc":"2.0","id":7,"method":"m"}]"#,
    );
    let events = one.take_events();
    let [
        Event::CallEnded { call: first, outcome: Err(CallFailure::Malformed(_)) },
        Event::CallEnded { call: second, outcome: Err(CallFailure::Malformed(_)) },
        Event::Unreadable(_),
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!([*first, *second], [calls[0], calls[1]]);
    assert_eq!(refusal(&one.take_sent()).0, "null");
    one.receive_result("3", "1");
    assert_eq!(one.take_events(), [ok(calls[2], "1")]);
}

#[test]
fn second_response_is_unmatched() {
    let mut one = One::mcp();
    let call = one.call(CallOptions::new());
    one.receive_result("1", "1");
    one.receive_result("1", "2");
    let events = one.take_events();
    assert_eq!(events[0], ok(call, "1"));
    assert!(matches!(&events[1..], [Event::UnmatchedResponse(stray)] if stray.outcome == Ok(json("2"))));
    one.assert_idle();
}

#[test]
fn malformed_response_ends_its_call() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    one.receive(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#);
    let events = one.take_events();
    assert!(
        matches!(&events[..], [Event::CallEnded { call: ended, outcome: Err(CallFailure::Malformed(_)) }] if *ended == call)
    );
    // A malformed response without a call is reported, and not answered.
    one.receive(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#);
    one.receive(r#"{"jsonrpc":"2.0","id":1.5,"result":1}"#);
    let [Event::UnmatchedResponse(first), Event::UnmatchedResponse(second)] = &one.take_events()[..] else {
        panic!("strays")
    };
    assert_eq!((&first.id, &second.id), (&call.request_id(), &RequestId::NULL));
    assert_eq!(one.take_sent(), [""; 0]);
    one.assert_idle();
}

#[test]
fn response_over_the_line_limit_ends_its_call() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    let mut lines = agentwire_jsonrpc::LineDecoder::new(64);
    lines.push(br#"{"jsonrpc":"2.0","id":1,"result":"#);
    lines.push(&[b'['; 64]);
    one.connection.handle_frame(one.now, lines.next_line().unwrap().into());
    let [Event::CallEnded { call: ended, outcome: Err(CallFailure::Malformed(error)) }] =
        &one.take_events()[..]
    else {
        panic!("over")
    };
    assert_eq!((*ended, error.data.as_ref().unwrap().as_str()), (call, r#"{"limit":64}"#));
    one.assert_idle();
}

#[test]
fn response_after_the_deadline_is_unmatched() {
    let mut one = One::mcp();
    let call = one.call(timeout(5));
    one.at(5 * SECOND - Duration::from_nanos(1));
    assert_eq!(one.take_events(), []);
    one.at(5 * SECOND);
    assert_eq!(one.take_events(), [timed_out(call, 5 * SECOND)]);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"timed out"}}"#;
    assert_eq!(one.take_sent(), [cancel]);
    one.receive_result("1", "true");
    assert!(
        matches!(&one.take_events()[..], [Event::UnmatchedResponse(stray)] if stray.id == call.request_id())
    );
    one.assert_idle();
    assert_eq!(one.connection.poll_timeout(), None);
}

#[test]
fn response_at_the_instant_of_the_deadline_resolves_the_call() {
    let mut one = One::acp();
    let call = one.call(timeout(5));
    one.at_before_the_timer(5 * SECOND);
    one.receive_result("1", "true");
    one.at(5 * SECOND);
    assert_eq!(one.take_events(), [ok(call, "true")]);
    assert_eq!(one.take_sent(), [""; 0]);
    one.assert_idle();
}

/// The driver was late: the response had arrived before the timer ran.
#[test]
fn late_timer_does_not_undo_a_response() {
    let mut one = One::acp();
    let call = one.call(timeout(5));
    one.at_before_the_timer(9 * SECOND);
    one.receive_result("1", "true");
    one.at(9 * SECOND);
    assert_eq!(one.take_events(), [ok(call, "true")]);
    one.assert_idle();
}

#[test]
fn calls_time_out_in_the_order_of_their_deadlines() {
    let mut one = One::acp();
    let slow = one.call(timeout(9));
    let patient = one.call(CallOptions::new());
    let quick = one.call(timeout(3));
    let equally_quick = one.call(timeout(3));
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 3 * SECOND));
    one.at(3 * SECOND);
    assert_eq!(one.take_events(), [timed_out(quick, 3 * SECOND), timed_out(equally_quick, 3 * SECOND)]);
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 9 * SECOND));
    one.at(1_000_000 * SECOND);
    assert_eq!(one.take_events(), [timed_out(slow, 9 * SECOND)]);
    assert_eq!(one.connection.poll_timeout(), None);
    one.receive_result("2", "0");
    assert_eq!(one.take_events(), [ok(patient, "0")]);
}

#[test]
fn timeouts_of_zero_and_beyond_the_clock_are_accepted() {
    let mut one = One::acp();
    let never = one.call_with("ask", CallOptions::new().timeout(Duration::MAX));
    assert_eq!(one.connection.poll_timeout(), None);
    let at_once = one.call_with("ask", CallOptions::new().timeout(Duration::ZERO));
    one.at(Duration::ZERO);
    assert_eq!(one.take_events(), [timed_out(at_once, Duration::ZERO)]);
    one.receive_result(&never.request_id().to_string(), "1");
    assert_eq!(one.take_events(), [ok(never, "1")]);
}

/// The request was never sent, so the peer gets no cancel.
#[test]
fn call_that_times_out_in_the_queue_is_withdrawn() {
    let mut one = One::mcp();
    one.notify("before");
    let call = one.call_with("ask", timeout(1));
    one.notify("after");
    one.at(SECOND);
    assert_eq!(one.take_events(), [timed_out(call, SECOND)]);
    assert_eq!(
        one.take_sent(),
        [r#"{"jsonrpc":"2.0","method":"before"}"#, r#"{"jsonrpc":"2.0","method":"after"}"#]
    );
    one.assert_idle();
}

#[test]
fn end_of_the_connection_fails_open_calls() {
    let mut one = One::mcp();
    let sent = one.call(timeout(5));
    let queued = one.call_with("ask", CallOptions::new());
    one.notify("farewell");
    one.connection.handle_end();
    one.connection.handle_end();
    assert_eq!(one.take_events(), [failed(sent, CallFailure::Closed), failed(queued, CallFailure::Closed)]);
    // A queued request of a failed call is not sent, but a notification is.
    assert_eq!(one.take_sent(), [r#"{"jsonrpc":"2.0","method":"farewell"}"#]);
    assert_eq!(one.connection.poll_timeout(), None);

    let after = one.call_with("ask", timeout(5));
    assert_eq!(one.take_events(), [failed(after, CallFailure::Closed)]);
    one.connection.cancel(after, "");
    one.at(9 * SECOND);
    assert_eq!((one.take_sent(), one.take_events()), (vec![], vec![]));
    one.assert_idle();
}

#[test]
fn open_requests_can_be_answered_after_the_end() {
    let mut one = One::acp();
    one.receive_request("7");
    let incoming = one.requests()[0];
    one.connection.handle_end();
    assert!(!one.connection.is_idle());
    one.answer(incoming, "true");
    assert_eq!(one.take_sent(), [r#"{"jsonrpc":"2.0","id":7,"result":true}"#]);
    one.assert_idle();
}

#[test]
fn frames_and_events_keep_their_order() {
    let mut one = One::acp();
    one.receive_request("7");
    let incoming = one.requests()[0];
    one.notify("first");
    let call = one.call_with("second", CallOptions::new());
    one.notify("third");
    one.answer(incoming, "4");
    one.notify("fifth");
    let sent = one.take_sent();
    let expected = ["first", "second", "third", r#""result":4"#, "fifth"];
    assert!(sent.len() == 5 && sent.iter().zip(expected).all(|(sent, part)| sent.contains(part)), "{sent:?}");

    one.receive(r#"{"jsonrpc":"2.0","method":"session/update"}"#);
    one.receive_result("1", "0");
    one.receive(r#"{"jsonrpc":"2.0","method":"session/update"}"#);
    let events = one.take_events();
    assert!(
        matches!(&events[..], [Event::Notification(_), answered, Event::Notification(_)] if *answered == ok(call, "0"))
    );
}

#[test]
fn frames_name_the_request_they_belong_to() {
    let mut one = One::new(Config::new(Dialect::MCP));
    one.receive_request(r#""a""#);
    let incoming = one.requests()[0];
    let in_reply_to = one.connection.incoming_request_id(incoming).cloned();
    assert_eq!(in_reply_to, Some("a".into()));

    let call = one.connection.reserve_call();
    let params = Some(RawJson::EMPTY_OBJECT);
    one.connection.call(one.now, call, "sampling/createMessage", params, timeout(1), in_reply_to.clone());
    one.connection.notify("notifications/message", None, in_reply_to.clone());
    one.connection.notify("notifications/tools/list_changed", None, None);
    let first = one.transmits();
    one.at(SECOND);
    one.answer(incoming, "1");
    let then = one.transmits();
    let relations: Vec<_> = first.iter().chain(&then).map(|transmit| transmit.in_reply_to.clone()).collect();
    // The fourth frame is the cancel of the call. It belongs to the same request as the call.
    assert_eq!(relations, [in_reply_to.clone(), in_reply_to.clone(), None, in_reply_to.clone(), in_reply_to]);
    assert!(text(&then[0]).contains("notifications/cancelled"));
    assert_eq!(one.connection.incoming_request_id(incoming), None);
}

#[test]
fn call_that_the_transport_could_not_send_fails() {
    let mut one = One::acp();
    let (first, second) = (one.call(CallOptions::new()), one.call(CallOptions::new()));
    assert_eq!(one.connection.handle_failure(&first.request_id()), Some(first));
    assert_eq!(one.connection.handle_failure(&first.request_id()), None, "once");
    assert_eq!(one.connection.handle_failure(&"1".into()), None, "not a call of this side");
    one.receive_result("2", "[2]");
    assert_eq!(one.take_events(), [failed(first, CallFailure::Failed), ok(second, "[2]")]);
    one.receive_result("1", "[1]");
    assert!(matches!(&one.take_events()[..], [Event::UnmatchedResponse(_)]));
}
