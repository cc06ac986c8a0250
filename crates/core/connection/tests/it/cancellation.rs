//! Cancellation by both sides, at every point of an exchange.

use agentwire_connection::{CallFailure, CallOptions, Event};
use agentwire_jsonrpc::RequestId;

use crate::pair::Pair;
use crate::{One, failed, ok, timeout};

const CANCEL_1: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"why"}}"#;

#[test]
fn cancel_is_sent_once_and_causes_no_event() {
    let mut one = One::mcp();
    let call = one.call(timeout(5));
    one.connection.cancel(call, "why");
    one.connection.cancel(call, "why again");
    assert_eq!(one.take_sent(), [CANCEL_1]);
    one.at(crate::SECOND * 9);
    assert_eq!((one.take_sent(), one.take_events()), (vec![], vec![]));
    one.assert_idle();
}

#[test]
fn cancel_has_the_form_of_the_dialect() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    one.connection.cancel(call, "a reason that ACP has no place for");
    assert_eq!(
        one.take_sent(),
        [r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#]
    );
}

#[test]
fn cancel_withdraws_a_queued_request() {
    let mut one = One::mcp();
    let first = one.call_with("a", timeout(5));
    let second = one.call_with("b", timeout(5));
    one.connection.cancel(first, "why");
    assert_eq!(one.take_sent(), [r#"{"jsonrpc":"2.0","id":2,"method":"b"}"#]);
    one.receive_result("2", "0");
    assert_eq!(one.take_events(), [ok(second, "0")]);
    one.assert_idle();
}

#[test]
fn cancel_of_an_answered_call_does_nothing() {
    let mut one = One::mcp();
    let call = one.call(timeout(5));
    one.receive_result("1", "0");
    one.connection.cancel(call, "why");
    assert_eq!(one.take_events(), [ok(call, "0")]);
    assert_eq!(one.take_sent(), [""; 0]);
    one.assert_idle();
}

/// MCP: a client must not cancel `initialize`. Its call can still end early.
#[test]
fn uncancellable_call_is_not_cancelled_at_the_peer() {
    for by_deadline in [true, false] {
        let mut one = One::mcp();
        let call = one.call_with("initialize", timeout(5));
        one.take_sent();
        if by_deadline {
            one.at(crate::SECOND * 5);
            assert_eq!(one.take_events().len(), 1);
        } else {
            one.connection.cancel(call, "why");
        }
        assert_eq!(one.take_sent(), [""; 0]);
        one.receive_result("1", "{}");
        let events = one.take_events();
        let [Event::UnmatchedResponse(_) | Event::CancelledResponse(_)] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(matches!(events[0], Event::UnmatchedResponse(_)), by_deadline);
        one.assert_idle();
    }
    let mut one = One::mcp();
    let call = one.call_with("initialize", timeout(5));
    one.connection.cancel(call, "why");
    assert_eq!(one.take_sent(), [""; 0]);
}

#[test]
fn acp_answers_a_cancelled_request_and_mcp_does_not() {
    for (mut one, method, answered) in
        [(One::acp(), "$/cancel_request", true), (One::mcp(), "notifications/cancelled", false)]
    {
        one.receive_request("7");
        let incoming = one.requests()[0];
        one.receive(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":7}}}}"#));
        assert_eq!(one.take_events(), [Event::Cancelled(incoming)]);
        assert_eq!(one.connection.pending_requests(), 1);
        one.answer(incoming, "true");
        assert_eq!(one.take_sent().len(), usize::from(answered));
        one.assert_idle();
    }
}

#[test]
fn repeated_cancel_causes_one_event() {
    let mut one = One::mcp();
    one.receive_request("1");
    one.requests();
    one.receive(CANCEL_1);
    one.receive(CANCEL_1);
    one.connection.handle_caller_left(&RequestId::from(1u64));
    assert!(matches!(&one.take_events()[..], [Event::Cancelled(_)]));
}

#[test]
fn cancel_of_an_unknown_id_is_ignored() {
    let mut one = One::mcp();
    one.receive_request("1");
    let incoming = one.requests()[0];
    let params = [
        r#"{"requestId":"1"}"#,
        r#"{"requestId":2}"#,
        r#"{"requestId":1.5}"#,
        r#"{"requestId":null}"#,
        r#"{"requestId":[1]}"#,
        r#"{"requestId":1,"requestId":1}"#,
        r#"{"reason":"x"}"#,
        "[]",
        "{}",
    ];
    for params in params {
        one.receive(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#));
        assert_eq!((one.take_events(), one.take_sent()), (vec![], vec![]), "{params}");
    }
    one.receive(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    // The cancel method of the other protocol is an ordinary notification.
    one.receive(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#);
    assert!(matches!(&one.take_events()[..], [Event::Notification(_)]));

    one.answer(incoming, "true");
    one.receive(CANCEL_1);
    assert_eq!(one.take_events(), []);
    assert_eq!(one.take_sent(), [r#"{"jsonrpc":"2.0","id":1,"result":true}"#]);
    one.assert_idle();
}

#[test]
fn further_params_of_a_cancel_are_ignored() {
    let mut one = One::mcp();
    one.receive_request(r#""\u0061""#);
    let incoming = one.requests()[0];
    one.receive(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":{"x":[]},"_meta":{},"requestId":"a"}}"#,
    );
    assert_eq!(one.take_events(), [Event::Cancelled(incoming)]);
}

/// The request and its cancel are read before the driver takes the events.
#[test]
fn cancel_may_arrive_before_the_request_is_handled() {
    let mut one = One::acp();
    one.receive_request("1");
    one.receive(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#);
    let events = one.take_events();
    assert!(
        matches!(&events[..], [Event::Request { incoming: asked, .. }, Event::Cancelled(incoming)] if asked == incoming)
    );
}

/// The response has no receiver, in every dialect.
#[test]
fn abandoned_request_is_not_answered() {
    for mut one in [One::acp(), One::mcp()] {
        one.receive_request(r#""a""#);
        let incoming = one.requests()[0];
        one.connection.handle_caller_left(&"b".into());
        one.connection.handle_caller_left(&RequestId::NULL);
        one.connection.handle_caller_left(&"a".into());
        one.connection.handle_caller_left(&"a".into());
        assert_eq!(one.take_events(), [Event::Cancelled(incoming)]);
        one.answer(incoming, "true");
        assert_eq!(one.take_sent(), [""; 0]);
        one.assert_idle();
    }
}

#[test]
fn cancel_may_cross_the_response() {
    for mut pair in [Pair::acp(), Pair::mcp()] {
        let call = pair.left.call_with("ask", timeout(5));
        pair.left_to_right();
        let incoming = pair.right.requests()[0];
        // Both send before either receives.
        pair.left.connection.cancel(call, "why");
        pair.right.answer(incoming, "true");
        pair.both_at_once();
        assert!(
            matches!(&pair.left.take_events()[..], [Event::CancelledResponse(late)] if late.id == call.request_id())
        );
        assert_eq!(pair.right.take_events(), []);
        pair.assert_idle();
    }
}

#[test]
fn cancel_may_arrive_before_the_response() {
    for (mut pair, answered) in [(Pair::acp(), true), (Pair::mcp(), false)] {
        let call = pair.left.call_with("ask", timeout(5));
        pair.left_to_right();
        let incoming = pair.right.requests()[0];
        pair.left.connection.cancel(call, "why");
        pair.left_to_right();
        assert_eq!(pair.right.take_events(), [Event::Cancelled(incoming)]);
        pair.right.answer(incoming, "true");
        pair.right_to_left();
        // If the dialect answers cancelled requests, the response belongs to a call that has ended.
        assert_eq!(pair.left.take_events().len(), usize::from(answered));
        pair.assert_idle();
    }
}

/// The id is free after its response. A cancel that was meant for its first use then cancels the second, because the peer must not use
/// an id twice.
#[test]
fn cancel_applies_to_the_current_request_with_its_id() {
    let mut one = One::mcp();
    one.receive_request("1");
    let first = one.requests()[0];
    one.answer(first, "1");
    one.receive_request("1");
    let second = one.requests()[0];
    assert_ne!(first, second);
    one.receive(CANCEL_1);
    assert_eq!(one.take_events(), [Event::Cancelled(second)]);
}

/// Since 2026-07-28 an MCP server ends a subscription this way.
#[test]
fn cancel_from_the_peer_ends_a_call_that_the_dialect_lists() {
    let mut one = One::mcp();
    let listen = one.call_with("subscriptions/listen", timeout(5));
    one.take_sent();
    one.receive(CANCEL_1);
    one.receive(CANCEL_1);
    assert_eq!(one.take_events(), [failed(listen, CallFailure::Cancelled)]);
    one.at(crate::SECOND * 9);
    assert_eq!((one.take_sent(), one.take_events()), (vec![], vec![]), "the call has ended");
    one.receive_result("1", "{}");
    assert!(matches!(&one.take_events()[..], [Event::UnmatchedResponse(_)]));
    one.assert_idle();
}

/// The ids of the two sides are separate: a server that cancels its own request 1 does not cancel this side's call 1.
#[test]
fn cancel_from_the_peer_otherwise_concerns_its_own_requests() {
    for (mut one, method) in
        [(One::mcp(), "tools/call"), (One::mcp(), "ask"), (One::acp(), "subscriptions/listen")]
    {
        let call = one.call_with(method, CallOptions::new());
        one.receive(CANCEL_1);
        one.receive(&CANCEL_1.replace("notifications/cancelled", "$/cancel_request"));
        one.take_events()
            .iter()
            .for_each(|event| assert!(matches!(event, Event::Notification(_)), "{event:?}"));
        one.receive_result("1", "0");
        assert_eq!(one.take_events(), [ok(call, "0")]);
    }
    let mut one = One::mcp();
    one.receive_request("1");
    let incoming = one.requests();
    let listen = one.call_with("subscriptions/listen", CallOptions::new());
    one.receive(CANCEL_1);
    assert_eq!(one.take_events(), [Event::Cancelled(incoming[0])]);
    one.receive(&CANCEL_1.replace("\"requestId\":1", "\"requestId\":\"1\""));
    assert_eq!(one.take_events(), [], "1 is not \"1\"");
    one.receive_result("1", "0");
    assert_eq!(one.take_events(), [ok(listen, "0")]);
}

/// A second response is a fault of the peer. Only the latest 256 cancelled calls are remembered.
#[test]
fn response_to_a_cancelled_call_is_expected_once() {
    let mut one = One::mcp();
    let calls: Vec<_> = (0..300).map(|_| one.call(timeout(5))).collect();
    for call in &calls {
        one.connection.cancel(*call, "why");
    }
    one.take_sent();
    one.receive_result("300", "1");
    one.receive_result("300", "1");
    one.receive_result("45", "1");
    one.receive_result("44", "1");
    let events = one.take_events();
    let [
        Event::CancelledResponse(_),
        Event::UnmatchedResponse(_),
        Event::CancelledResponse(_),
        Event::UnmatchedResponse(_),
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    one.assert_idle();
}
