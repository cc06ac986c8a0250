//! Progress extends a deadline, up to a maximum, and means nothing else.

use std::time::Duration;

use agentwire_connection::{CallOptions, Event};

use crate::{One, SECOND, json, ok, timed_out, timeout};

/// Waits five seconds, twelve at most.
fn extended() -> CallOptions {
    timeout(5).progress_maximum(12 * SECOND)
}

fn report(one: &mut One, token: &str) {
    one.hear(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
    ));
}

#[test]
fn starts_the_wait_anew_until_the_maximum() {
    let mut one = One::mcp();
    let call = one.call(extended());
    for (reported, deadline) in [(4, 9), (8, 12), (11, 12)] {
        one.at(reported * SECOND);
        report(&mut one, "1");
        let params = json(r#"{"progressToken":1,"progress":1}"#);
        assert_eq!(one.happened(), [Event::Progress { call, params }]);
        assert_eq!(one.connection.poll_timeout(), Some(one.start + deadline * SECOND));
    }
    one.at(12 * SECOND);
    assert_eq!(one.happened(), [timed_out(call, 12 * SECOND)]);
    assert_eq!(one.said().len(), 1);
    one.assert_idle();
}

#[test]
fn at_the_very_maximum_is_heard_and_extends_nothing() {
    let mut one = One::mcp();
    let call = one.call(extended());
    for second in [5, 10, 12] {
        one.at_before_the_timer(second * SECOND);
        report(&mut one, "1");
    }
    assert_eq!(one.happened().len(), 3);
    one.at(12 * SECOND);
    assert_eq!(one.happened(), [timed_out(call, 12 * SECOND)]);
    report(&mut one, "1");
    assert_eq!(one.happened(), []);
}

#[test]
fn extends_nothing_unless_asked_to() {
    let mut one = One::mcp();
    let call = one.call(timeout(5));
    one.at(4 * SECOND);
    report(&mut one, "1");
    assert_eq!(one.happened().len(), 1);
    one.at(5 * SECOND);
    assert_eq!(one.happened(), [timed_out(call, 5 * SECOND)]);
}

#[test]
fn never_makes_the_wait_shorter() {
    let mut one = One::mcp();
    let call = one.call(timeout(10).progress_maximum(3 * SECOND));
    one.at(4 * SECOND);
    report(&mut one, "1");
    one.at(9 * SECOND);
    assert_eq!(one.happened().len(), 1);
    one.at(10 * SECOND);
    assert_eq!(one.happened(), [timed_out(call, 10 * SECOND)]);
}

#[test]
fn has_no_maximum_where_that_is_beyond_the_clock() {
    let mut one = One::mcp();
    let call = one.call(timeout(5).progress_maximum(Duration::MAX));
    for second in 1..1000 {
        one.at(second * 4 * SECOND);
        report(&mut one, "1");
    }
    assert_eq!(one.happened().len(), 999);
    one.hear_result("1", "0");
    assert_eq!(one.happened(), [ok(call, "0")]);
}

#[test]
fn on_a_call_without_a_deadline_sets_none() {
    let mut one = One::mcp();
    one.call(CallOptions::new().progress_maximum(SECOND));
    report(&mut one, "1");
    assert_eq!(one.happened().len(), 1);
    assert_eq!(one.connection.poll_timeout(), None);
}

#[test]
fn for_no_call_of_ours_is_passed_over() {
    let mut one = One::mcp();
    one.call(extended());
    one.at(4 * SECOND);
    for token in ["2", "0", "-1", "1.5", "1e1", "null", "[1]", "{}", "18446744073709551616"] {
        report(&mut one, token);
        assert_eq!(one.happened(), [], "{token}");
    }
    one.hear(r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#);
    one.hear(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[]}"#);
    one.hear(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#);
    assert_eq!((one.happened(), one.said()), (vec![], vec![]));
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 5 * SECOND));
}

#[test]
fn under_a_word_is_passed_on_to_whoever_gave_it_out() {
    let mut one = One::mcp();
    one.call(extended());
    one.at(4 * SECOND);
    report(&mut one, r#""1""#);
    assert!(matches!(&one.happened()[..], [Event::Notification(_)]));
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 5 * SECOND));
}

#[test]
fn after_the_end_of_its_call_is_passed_over() {
    let mut one = One::mcp();
    let answered = one.call(extended());
    let cancelled = one.call(extended());
    one.hear_result("1", "0");
    one.connection.cancel(cancelled, "");
    assert_eq!(one.happened(), [ok(answered, "0")]);
    report(&mut one, "1");
    report(&mut one, "2");
    assert_eq!(one.happened(), []);
    assert_eq!(one.connection.poll_timeout(), None);
}

#[test]
fn is_seen_before_the_answer_that_follows_it() {
    let mut one = One::mcp();
    let call = one.call(extended());
    report(&mut one, "1");
    one.hear_result("1", "0");
    report(&mut one, "1");
    let events = one.happened();
    assert!(
        matches!(&events[..], [Event::Progress { .. }, answered] if *answered == ok(call, "0")),
        "{events:?}"
    );
}

#[test]
fn is_a_notification_like_any_other_where_the_dialect_has_none() {
    let mut one = One::acp();
    one.call(extended());
    report(&mut one, "1");
    assert!(matches!(&one.happened()[..], [Event::Notification(_)]));
    assert_eq!(one.connection.poll_timeout(), Some(one.start + 5 * SECOND));
}
