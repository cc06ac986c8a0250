//! Progress is reported, and extends a deadline up to a maximum.

use std::time::Duration;

use agentwire_connection::{CallOptions, Event};

use crate::{One, SECOND, json, ok, timed_out, timeout};

/// A time-out of five seconds, which progress extends to at most twelve.
fn extended() -> CallOptions {
    timeout(5).progress_maximum(12 * SECOND)
}

fn report(one: &mut One, token: &str) {
    one.receive(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
    ));
}

#[test]
fn progress_restarts_the_timeout_up_to_the_maximum() {
    let mut one = One::mcp();
    let call = one.call(extended());
    for (reported, deadline) in [(4, 9), (8, 12), (11, 12)] {
        one.at(reported * SECOND);
        report(&mut one, "1");
        let params = json(r#"{"progressToken":1,"progress":1}"#);
        assert_eq!(one.take_events(), [Event::Progress { call, params }]);
        assert_eq!(one.connection.poll_timeout(), Some(one.start + deadline * SECOND));
    }
    one.at(12 * SECOND);
    assert_eq!(one.take_events(), [timed_out(call, 12 * SECOND)]);
    assert_eq!(one.take_sent().len(), 1);
    one.assert_idle();
}

#[test]
fn progress_at_the_maximum_is_reported_and_does_not_extend() {
    let mut one = One::mcp();
    let call = one.call(extended());
    for second in [5, 10, 12] {
        one.at_before_the_timer(second * SECOND);
        report(&mut one, "1");
    }
    assert_eq!(one.take_events().len(), 3);
    one.at(12 * SECOND);
    assert_eq!(one.take_events(), [timed_out(call, 12 * SECOND)]);
    report(&mut one, "1");
    assert_eq!(one.take_events(), []);
}

#[test]
fn progress_does_not_extend_by_default() {
    let mut one = One::mcp();
    let call = one.call(timeout(5));
    one.at(4 * SECOND);
    report(&mut one, "1");
    assert_eq!(one.take_events().len(), 1);
    one.at(5 * SECOND);
    assert_eq!(one.take_events(), [timed_out(call, 5 * SECOND)]);
}

#[test]
fn progress_never_shortens_the_deadline() {
    let mut one = One::mcp();
    let call = one.call(timeout(10).progress_maximum(3 * SECOND));
    one.at(4 * SECOND);
    report(&mut one, "1");
    one.at(9 * SECOND);
    assert_eq!(one.take_events().len(), 1);
    one.at(10 * SECOND);
    assert_eq!(one.take_events(), [timed_out(call, 10 * SECOND)]);
}

#[test]
fn maximum_beyond_the_clock_is_no_limit() {
    let mut one = One::mcp();
    let call = one.call(timeout(5).progress_maximum(Duration::MAX));
    for second in 1..1000 {
        one.at(second * 4 * SECOND);
        report(&mut one, "1");
    }
    assert_eq!(one.take_events().len(), 999);
    one.receive_result("1", "0");
    assert_eq!(one.take_events(), [ok(call, "0")]);
}

#[test]
fn progress_on_a_call_without_a_deadline_sets_none() {
    let mut one = One::mcp();
    one.call(CallOptions::new().progress_maximum(SECOND));
    report(&mut one, "1");
    assert_eq!(one.take_events().len(), 1);
    assert_eq!(one.connection.poll_timeout(), None);
}

#[test]
fn progress_for_an_unknown_call_is_ignored() {
    let mut one = One::mcp();
    one.call(extended());
    one.at(4 * SECOND);
    for token in ["2", "0", "-1", "1.5", "1e1", "null", "[1]", "{}", "18446744073709551616"] {
        report(&mut one, token);
        assert_eq!(one.take_events(), [], "{token}");
    }
    one.receive(r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#);
    one.receive(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[]}"#);
    one.receive(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#);
    assert_eq!((one.take_events(), one.take_sent()), (vec![], vec![]));
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 5 * SECOND));
}

#[test]
fn progress_with_a_string_token_is_a_notification() {
    let mut one = One::mcp();
    one.call(extended());
    one.at(4 * SECOND);
    report(&mut one, r#""1""#);
    assert!(matches!(&one.take_events()[..], [Event::Notification(_)]));
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 5 * SECOND));
}

#[test]
fn progress_after_the_end_of_its_call_is_ignored() {
    let mut one = One::mcp();
    let answered = one.call(extended());
    let cancelled = one.call(extended());
    one.receive_result("1", "0");
    one.connection.cancel(cancelled, "");
    assert_eq!(one.take_events(), [ok(answered, "0")]);
    report(&mut one, "1");
    report(&mut one, "2");
    assert_eq!(one.take_events(), []);
    assert_eq!(one.connection.poll_timeout(), None);
}

#[test]
fn progress_is_reported_before_the_response_behind_it() {
    let mut one = One::mcp();
    let call = one.call(extended());
    report(&mut one, "1");
    one.receive_result("1", "0");
    report(&mut one, "1");
    let events = one.take_events();
    assert!(
        matches!(&events[..], [Event::Progress { .. }, answered] if *answered == ok(call, "0")),
        "{events:?}"
    );
}

#[test]
fn progress_is_a_notification_without_a_progress_method() {
    let mut one = One::acp();
    one.call(extended());
    report(&mut one, "1");
    assert!(matches!(&one.take_events()[..], [Event::Notification(_)]));
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 5 * SECOND));
}
