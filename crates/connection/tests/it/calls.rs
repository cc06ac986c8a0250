//! Calls that we made: answers, deadlines, the end.

use std::time::Duration;

use agentwire_connection::{CallFailure, CallOptions, Config, Dialect, Event};
use agentwire_jsonrpc::{ErrorObject, RawJson, RequestId, code};

use crate::{One, SECOND, failed, json, ok, text, timed_out, timeout};

#[test]
fn answers_find_their_calls_in_any_order() {
    let mut one = One::acp();
    let first = one.call(CallOptions::new());
    let second = one.call(CallOptions::new());
    assert_eq!((first.request_id(), second.request_id()), (1u64.into(), 2u64.into()));
    assert_eq!(one.connection.calls_in_flight(), 2);

    one.hear_result("2", "[2]");
    one.hear(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":{"a":1}}}"#);
    let refused = ErrorObject::new(code::METHOD_NOT_FOUND, "no").with_data(&serde_json::json!({"a":1}));
    assert_eq!(one.happened(), [ok(second, "[2]"), failed(first, CallFailure::Refused(refused))]);
    one.assert_idle();
}

#[test]
fn an_answer_of_another_type_is_another_answer() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    for id in [r#""1""#, "-1", "2", "0", "null", "18446744073709551615", r#""\u0031""#] {
        one.hear_result(id, "true");
        assert!(matches!(&one.happened()[..], [Event::UnmatchedResponse(_)]), "{id}");
    }
    one.hear(r#"{"jsonrpc":"2.0","result":true}"#);
    assert!(matches!(&one.happened()[..], [Event::UnmatchedResponse(_)]));
    one.hear_result("1", "null");
    assert_eq!(one.happened(), [ok(call, "null")]);
}

#[test]
fn the_second_answer_is_a_stray() {
    let mut one = One::mcp();
    let call = one.call(CallOptions::new());
    one.hear_result("1", "1");
    one.hear_result("1", "2");
    let events = one.happened();
    assert_eq!(events[0], ok(call, "1"));
    assert!(matches!(&events[1..], [Event::UnmatchedResponse(stray)] if stray.outcome == Ok(json("2"))));
    one.assert_idle();
}

#[test]
fn an_answer_that_cannot_be_read_ends_its_call() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    one.hear(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#);
    let events = one.happened();
    assert!(
        matches!(&events[..], [Event::Answered { call: ended, outcome: Err(CallFailure::Malformed(_)) }] if *ended == call)
    );
    // One that is for no call at all is shown, and never answered.
    one.hear(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#);
    one.hear(r#"{"jsonrpc":"2.0","id":1.5,"result":1}"#);
    let [Event::UnmatchedResponse(first), Event::UnmatchedResponse(second)] = &one.happened()[..] else {
        panic!("strays")
    };
    assert_eq!((&first.id, &second.id), (&call.request_id(), &RequestId::NULL));
    assert_eq!(one.said(), [""; 0]);
    one.assert_idle();
}

#[test]
fn an_answer_too_long_to_take_ends_its_call() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    let mut lines = agentwire_jsonrpc::LineDecoder::new(64);
    lines.push(br#"{"jsonrpc":"2.0","id":1,"result":"#);
    lines.push(&[b'['; 64]);
    one.connection.handle_frame(one.now, lines.next_line().unwrap().into());
    let [Event::Answered { call: ended, outcome: Err(CallFailure::Malformed(error)) }] = &one.happened()[..]
    else {
        panic!("over")
    };
    assert_eq!((*ended, error.data.as_ref().unwrap().as_str()), (call, r#"{"limit":64}"#));
    one.assert_idle();
}

#[test]
fn a_deadline_ends_the_call_and_the_answer_comes_late() {
    let mut one = One::mcp();
    let call = one.call(timeout(5));
    one.at(5 * SECOND - Duration::from_nanos(1));
    assert_eq!(one.happened(), []);
    one.at(5 * SECOND);
    assert_eq!(one.happened(), [timed_out(call, 5 * SECOND)]);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"timed out"}}"#;
    assert_eq!(one.said(), [cancel]);
    one.hear_result("1", "true");
    assert!(
        matches!(&one.happened()[..], [Event::UnmatchedResponse(stray)] if stray.id == call.request_id())
    );
    one.assert_idle();
    assert_eq!(one.connection.poll_timeout(), None);
}

#[test]
fn at_the_very_instant_of_the_deadline_the_answer_wins() {
    let mut one = One::acp();
    let call = one.call(timeout(5));
    one.at_before_the_timer(5 * SECOND);
    one.hear_result("1", "true");
    one.at(5 * SECOND);
    assert_eq!(one.happened(), [ok(call, "true")]);
    assert_eq!(one.said(), [""; 0]);
    one.assert_idle();
}

/// The driver was held up: the answer lay there, unread, when the timer should have gone off.
#[test]
fn a_late_timer_does_not_undo_an_answer() {
    let mut one = One::acp();
    let call = one.call(timeout(5));
    one.at_before_the_timer(9 * SECOND);
    one.hear_result("1", "true");
    one.at(9 * SECOND);
    assert_eq!(one.happened(), [ok(call, "true")]);
    one.assert_idle();
}

#[test]
fn deadlines_come_in_their_own_order() {
    let mut one = One::acp();
    let slow = one.call(timeout(9));
    let patient = one.call(CallOptions::new());
    let quick = one.call(timeout(3));
    let equally_quick = one.call(timeout(3));
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 3 * SECOND));
    one.at(3 * SECOND);
    assert_eq!(one.happened(), [timed_out(quick, 3 * SECOND), timed_out(equally_quick, 3 * SECOND)]);
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 9 * SECOND));
    one.at(1_000_000 * SECOND);
    assert_eq!(one.happened(), [timed_out(slow, 9 * SECOND)]);
    assert_eq!(one.connection.poll_timeout(), None);
    one.hear_result("2", "0");
    assert_eq!(one.happened(), [ok(patient, "0")]);
}

#[test]
fn extremes_of_time() {
    let mut one = One::acp();
    let never = one.call_with("ask", CallOptions::new().timeout(Duration::MAX));
    assert_eq!(one.connection.poll_timeout(), None);
    let at_once = one.call_with("ask", CallOptions::new().timeout(Duration::ZERO));
    one.at(Duration::ZERO);
    assert_eq!(one.happened(), [timed_out(at_once, Duration::ZERO)]);
    one.hear_result(&never.request_id().to_string(), "1");
    assert_eq!(one.happened(), [ok(never, "1")]);
}

/// It never left, so there is nothing to tell the peer.
#[test]
fn a_call_that_times_out_in_the_queue_is_taken_back() {
    let mut one = One::mcp();
    one.notify("before");
    let call = one.call_with("ask", timeout(1));
    one.notify("after");
    one.at(SECOND);
    assert_eq!(one.happened(), [timed_out(call, SECOND)]);
    assert_eq!(
        one.said(),
        [r#"{"jsonrpc":"2.0","method":"before"}"#, r#"{"jsonrpc":"2.0","method":"after"}"#]
    );
    one.assert_idle();
}

#[test]
fn the_end_fails_what_is_open() {
    let mut one = One::mcp();
    let sent = one.call(timeout(5));
    let queued = one.call_with("ask", CallOptions::new());
    one.notify("farewell");
    one.connection.handle_end();
    one.connection.handle_end();
    assert_eq!(one.happened(), [failed(sent, CallFailure::Closed), failed(queued, CallFailure::Closed)]);
    // A request nobody waits for does not leave; what was only said does.
    assert_eq!(one.said(), [r#"{"jsonrpc":"2.0","method":"farewell"}"#]);
    assert_eq!(one.connection.poll_timeout(), None);

    let after = one.call_with("ask", timeout(5));
    assert_eq!(one.happened(), [failed(after, CallFailure::Closed)]);
    one.connection.cancel(after, "");
    one.at(9 * SECOND);
    assert_eq!((one.said(), one.happened()), (vec![], vec![]));
    one.assert_idle();
}

#[test]
fn what_is_owed_at_the_end_can_still_be_answered() {
    let mut one = One::acp();
    one.hear_request("7");
    let incoming = one.requests()[0];
    one.connection.handle_end();
    assert!(!one.connection.is_idle());
    one.answer(incoming, "true");
    assert_eq!(one.said(), [r#"{"jsonrpc":"2.0","id":7,"result":true}"#]);
    one.assert_idle();
}

#[test]
fn nothing_overtakes() {
    let mut one = One::acp();
    one.hear_request("7");
    let incoming = one.requests()[0];
    one.notify("first");
    let call = one.call_with("second", CallOptions::new());
    one.notify("third");
    one.answer(incoming, "4");
    one.notify("fifth");
    let said = one.said();
    let expected = ["first", "second", "third", r#""result":4"#, "fifth"];
    assert!(said.len() == 5 && said.iter().zip(expected).all(|(said, part)| said.contains(part)), "{said:?}");

    one.hear(r#"{"jsonrpc":"2.0","method":"session/update"}"#);
    one.hear_result("1", "0");
    one.hear(r#"{"jsonrpc":"2.0","method":"session/update"}"#);
    let events = one.happened();
    assert!(
        matches!(&events[..], [Event::Notification(_), answered, Event::Notification(_)] if *answered == ok(call, "0"))
    );
}

#[test]
fn what_is_said_carries_what_it_belongs_to() {
    let mut one = One::new(Config::new(Dialect::MCP));
    one.hear_request(r#""a""#);
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
    // The fourth is the cancellation of the call: it goes the way that the call went.
    assert_eq!(relations, [in_reply_to.clone(), in_reply_to.clone(), None, in_reply_to.clone(), in_reply_to]);
    assert!(text(&then[0]).contains("notifications/cancelled"));
    assert_eq!(one.connection.incoming_request_id(incoming), None);
}

#[test]
fn a_call_that_could_not_be_carried_is_over() {
    let mut one = One::acp();
    let (first, second) = (one.call(CallOptions::new()), one.call(CallOptions::new()));
    assert_eq!(one.connection.handle_failure(&first.request_id()), Some(first));
    assert_eq!(one.connection.handle_failure(&first.request_id()), None, "once");
    assert_eq!(one.connection.handle_failure(&"1".into()), None, "no call of ours");
    one.hear_result("2", "[2]");
    assert_eq!(one.happened(), [failed(first, CallFailure::Failed), ok(second, "[2]")]);
    one.hear_result("1", "[1]");
    assert!(matches!(&one.happened()[..], [Event::UnmatchedResponse(_)]));
}
