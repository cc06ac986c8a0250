//! Cancelling, from both sides, at every bad moment.

use agentwire_connection::{CallFailure, CallOptions, Event};
use agentwire_jsonrpc::RequestId;

use crate::pair::Pair;
use crate::{One, failed, ok, timeout};

const CANCEL_1: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"why"}}"#;

#[test]
fn tells_the_peer_once_and_makes_no_event() {
    let mut one = One::mcp();
    let call = one.call(timeout(5));
    one.connection.cancel(call, "why");
    one.connection.cancel(call, "why again");
    assert_eq!(one.said(), [CANCEL_1]);
    one.at(crate::SECOND * 9);
    assert_eq!((one.said(), one.happened()), (vec![], vec![]));
    one.assert_idle();
}

#[test]
fn is_spelled_as_the_dialect_has_it() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    one.connection.cancel(call, "a reason that ACP has no place for");
    assert_eq!(one.said(), [r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#]);
}

#[test]
fn takes_back_what_has_not_left() {
    let mut one = One::mcp();
    let first = one.call_with("a", timeout(5));
    let second = one.call_with("b", timeout(5));
    one.connection.cancel(first, "why");
    assert_eq!(one.said(), [r#"{"jsonrpc":"2.0","id":2,"method":"b"}"#]);
    one.hear_result("2", "0");
    assert_eq!(one.happened(), [ok(second, "0")]);
    one.assert_idle();
}

#[test]
fn comes_too_late_for_an_answered_call() {
    let mut one = One::mcp();
    let call = one.call(timeout(5));
    one.hear_result("1", "0");
    one.connection.cancel(call, "why");
    assert_eq!(one.happened(), [ok(call, "0")]);
    assert_eq!(one.said(), [""; 0]);
    one.assert_idle();
}

/// MCP: a client must not cancel `initialize`. It may stop waiting all the same.
#[test]
fn never_names_what_must_not_be_cancelled() {
    for by_deadline in [true, false] {
        let mut one = One::mcp();
        let call = one.call_with("initialize", timeout(5));
        one.said();
        if by_deadline {
            one.at(crate::SECOND * 5);
            assert_eq!(one.happened().len(), 1);
        } else {
            one.connection.cancel(call, "why");
        }
        assert_eq!(one.said(), [""; 0]);
        one.hear_result("1", "{}");
        let events = one.happened();
        let [Event::UnmatchedResponse(_) | Event::CancelledResponse(_)] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(matches!(events[0], Event::UnmatchedResponse(_)), by_deadline);
        one.assert_idle();
    }
    let mut one = One::mcp();
    let call = one.call_with("initialize", timeout(5));
    one.connection.cancel(call, "why");
    assert_eq!(one.said(), [""; 0]);
}

#[test]
fn acp_answers_a_cancelled_request_and_mcp_does_not() {
    for (mut one, method, answered) in
        [(One::acp(), "$/cancel_request", true), (One::mcp(), "notifications/cancelled", false)]
    {
        one.hear_request("7");
        let incoming = one.requests()[0];
        one.hear(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":7}}}}"#));
        assert_eq!(one.happened(), [Event::Cancelled(incoming)]);
        assert_eq!(one.connection.pending_requests(), 1);
        one.answer(incoming, "true");
        assert_eq!(one.said().len(), usize::from(answered));
        one.assert_idle();
    }
}

#[test]
fn is_heard_once() {
    let mut one = One::mcp();
    one.hear_request("1");
    one.requests();
    one.hear(CANCEL_1);
    one.hear(CANCEL_1);
    one.connection.handle_caller_left(&RequestId::from(1u64));
    assert!(matches!(&one.happened()[..], [Event::Cancelled(_)]));
}

#[test]
fn of_nothing_in_particular_is_passed_over() {
    let mut one = One::mcp();
    one.hear_request("1");
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
        one.hear(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#));
        assert_eq!((one.happened(), one.said()), (vec![], vec![]), "{params}");
    }
    one.hear(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    // The other protocol's spelling is a notification like any other.
    one.hear(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#);
    assert!(matches!(&one.happened()[..], [Event::Notification(_)]));

    one.answer(incoming, "true");
    one.hear(CANCEL_1);
    assert_eq!(one.happened(), []);
    assert_eq!(one.said(), [r#"{"jsonrpc":"2.0","id":1,"result":true}"#]);
    one.assert_idle();
}

#[test]
fn reads_whatever_else_the_notification_says() {
    let mut one = One::mcp();
    one.hear_request(r#""\u0061""#);
    let incoming = one.requests()[0];
    one.hear(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":{"x":[]},"_meta":{},"requestId":"a"}}"#,
    );
    assert_eq!(one.happened(), [Event::Cancelled(incoming)]);
}

/// The request and its cancellation were read before anybody looked.
#[test]
fn may_arrive_before_the_request_was_looked_at() {
    let mut one = One::acp();
    one.hear_request("1");
    one.hear(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#);
    let events = one.happened();
    assert!(
        matches!(&events[..], [Event::Request { incoming: asked, .. }, Event::Cancelled(incoming)] if asked == incoming)
    );
}

/// The answer has no receiver, in every dialect.
#[test]
fn an_abandoned_request_is_not_answered() {
    for mut one in [One::acp(), One::mcp()] {
        one.hear_request(r#""a""#);
        let incoming = one.requests()[0];
        one.connection.handle_caller_left(&"b".into());
        one.connection.handle_caller_left(&RequestId::NULL);
        one.connection.handle_caller_left(&"a".into());
        one.connection.handle_caller_left(&"a".into());
        assert_eq!(one.happened(), [Event::Cancelled(incoming)]);
        one.answer(incoming, "true");
        assert_eq!(one.said(), [""; 0]);
        one.assert_idle();
    }
}

#[test]
fn crosses_the_answer() {
    for mut pair in [Pair::acp(), Pair::mcp()] {
        let call = pair.left.call_with("ask", timeout(5));
        pair.left_to_right();
        let incoming = pair.right.requests()[0];
        // Both send before either receives.
        pair.left.connection.cancel(call, "why");
        pair.right.answer(incoming, "true");
        pair.both_at_once();
        assert!(
            matches!(&pair.left.happened()[..], [Event::CancelledResponse(late)] if late.id == call.request_id())
        );
        assert_eq!(pair.right.happened(), []);
        pair.assert_idle();
    }
}

#[test]
fn arrives_in_time() {
    for (mut pair, answered) in [(Pair::acp(), true), (Pair::mcp(), false)] {
        let call = pair.left.call_with("ask", timeout(5));
        pair.left_to_right();
        let incoming = pair.right.requests()[0];
        pair.left.connection.cancel(call, "why");
        pair.left_to_right();
        assert_eq!(pair.right.happened(), [Event::Cancelled(incoming)]);
        pair.right.answer(incoming, "true");
        pair.right_to_left();
        // Where the dialect answers, the answer is for a call that is over.
        assert_eq!(pair.left.happened().len(), usize::from(answered));
        pair.assert_idle();
    }
}

/// The id is free again once answered, and a cancellation that was meant for the first use of it hits the second:
/// that is the peer's doing, since ids are not to be used twice.
#[test]
fn finds_the_request_that_now_bears_the_id() {
    let mut one = One::mcp();
    one.hear_request("1");
    let first = one.requests()[0];
    one.answer(first, "1");
    one.hear_request("1");
    let second = one.requests()[0];
    assert_ne!(first, second);
    one.hear(CANCEL_1);
    assert_eq!(one.happened(), [Event::Cancelled(second)]);
}

/// MCP since 2026-07-28: a server ends a subscription in this way.
#[test]
fn from_the_peer_ends_a_call_of_ours_where_the_dialect_says_so() {
    let mut one = One::mcp();
    let listen = one.call_with("subscriptions/listen", timeout(5));
    one.said();
    one.hear(CANCEL_1);
    one.hear(CANCEL_1);
    assert_eq!(one.happened(), [failed(listen, CallFailure::Cancelled)]);
    one.at(crate::SECOND * 9);
    assert_eq!((one.said(), one.happened()), (vec![], vec![]), "there is nobody to tell");
    one.hear_result("1", "{}");
    assert!(matches!(&one.happened()[..], [Event::UnmatchedResponse(_)]));
    one.assert_idle();
}

/// Ids of the two sides are two series: a server that takes back its own request 1 does not mean our call 1.
#[test]
fn from_the_peer_means_its_own_requests_everywhere_else() {
    for (mut one, method) in
        [(One::mcp(), "tools/call"), (One::mcp(), "ask"), (One::acp(), "subscriptions/listen")]
    {
        let call = one.call_with(method, CallOptions::new());
        one.hear(CANCEL_1);
        one.hear(&CANCEL_1.replace("notifications/cancelled", "$/cancel_request"));
        one.happened().iter().for_each(|event| assert!(matches!(event, Event::Notification(_)), "{event:?}"));
        one.hear_result("1", "0");
        assert_eq!(one.happened(), [ok(call, "0")]);
    }
    let mut one = One::mcp();
    one.hear_request("1");
    let incoming = one.requests();
    let listen = one.call_with("subscriptions/listen", CallOptions::new());
    one.hear(CANCEL_1);
    assert_eq!(one.happened(), [Event::Cancelled(incoming[0])]);
    one.hear(&CANCEL_1.replace("\"requestId\":1", "\"requestId\":\"1\""));
    assert_eq!(one.happened(), [], "1 is not \"1\"");
    one.hear_result("1", "0");
    assert_eq!(one.happened(), [ok(listen, "0")]);
}

/// The second answer is the peer's fault, and so is one to a call that it does not remember for ever.
#[test]
fn answer_to_a_cancelled_call_is_expected_once() {
    let mut one = One::mcp();
    let calls: Vec<_> = (0..300).map(|_| one.call(timeout(5))).collect();
    for call in &calls {
        one.connection.cancel(*call, "why");
    }
    one.said();
    one.hear_result("300", "1");
    one.hear_result("300", "1");
    // 256 are remembered.
    one.hear_result("45", "1");
    one.hear_result("44", "1");
    let events = one.happened();
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
