//! The limits on the memory of a connection.

use agentwire_connection::{CallOptions, Config, Dialect};
use agentwire_jsonrpc::ErrorObject;

use crate::{One, json, ok, refusal};

fn small() -> One {
    One::new(Config::new(Dialect::ACP).request_limit(3).high_water(200).backlog_limit(0))
}

#[test]
fn queue_has_room_below_the_high_water() {
    let mut one = small();
    assert!(one.connection.has_room());
    one.notify("note");
    one.notify("note");
    assert!(one.connection.has_room());
    one.connection.notify("note", Some(json(&format!("[\"{}\"]", "x".repeat(100)))), None);
    assert!(!one.connection.has_room());
    // The queue also accepts frames beyond the high water.
    one.notify("last");
    assert!(one.connection.wants_output());
    assert_eq!(one.take_sent().len(), 4);
    assert!(one.connection.has_room() && !one.connection.wants_output());
}

/// A coalesced notification is queued once, however often it is sent to a peer that does not read.
#[test]
fn identical_notification_is_queued_once() {
    let mut one = small();
    let notify = |one: &mut One, text, in_reply_to: Option<u64>| {
        one.connection.notify_coalesced("news", Some(json(text)), in_reply_to.map(Into::into))
    };
    assert!(notify(&mut one, "[1]", None));
    one.notify("note");
    assert!(!notify(&mut one, "[1]", None));
    assert!(
        notify(&mut one, "[2]", None) && notify(&mut one, "[1]", Some(1)),
        "other params or another request"
    );
    assert_eq!(one.take_sent().len(), 4);
    assert!(notify(&mut one, "[1]", None), "the first is sent, so it is queued again");
    assert_eq!(one.take_sent().len(), 1);
}

/// A comparison of values would parse each queued notification for each new one.
#[test]
fn queued_notifications_are_compared_as_text() {
    let mut one = small();
    let texts = [r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#];
    let queued = texts.map(|text| one.connection.notify_coalesced("news", Some(json(text)), None));
    assert_eq!(queued, [true; 2]);
    let again = texts.map(|text| one.connection.notify_coalesced("news", Some(json(text)), None));
    assert_eq!(again, [false; 2]);
}

#[test]
fn withdrawn_request_frees_its_room() {
    let mut one = small();
    let calls: Vec<_> = (0..5).map(|_| one.call_with("ask", crate::timeout(1))).collect();
    assert!(!one.connection.has_room());
    for call in calls {
        one.connection.cancel(call, "");
    }
    assert!(one.connection.has_room());
    one.assert_idle();
}

#[test]
fn size_of_an_error_counts() {
    let mut one = small();
    one.receive_request("1");
    let incoming = one.requests()[0];
    one.connection.answer(incoming, Err(ErrorObject::internal_error("x".repeat(1000))));
    assert!(!one.connection.has_room());
}

/// Reading stops only when the queue is full *and* the request limit is reached. If a full queue were enough, two peers that both
/// write would wait for each other for ever.
#[test]
fn input_is_wanted_until_the_queue_and_the_requests_are_at_their_limits() {
    let mut one = small();
    one.receive_request("1");
    one.receive_request("2");
    one.receive_request("3");
    let incoming = one.requests();
    assert!(one.connection.wants_input(), "requests alone: more are refused, which frees the memory at once");

    let mut full = small();
    (0..9).for_each(|_| full.notify("note"));
    assert!(full.connection.wants_input(), "a full queue alone: the awaited responses could be behind it");

    (0..9).for_each(|_| one.notify("note"));
    assert!(!one.connection.wants_input());
    // A queued response counts as much as its request.
    one.answer(incoming[0], "0");
    assert!(!one.connection.wants_input());
    one.take_sent();
    assert!(one.connection.wants_input());
}

/// A peer sends malformed requests, or too many, and never reads.
#[test]
fn refusals_are_bounded_too() {
    for text in
        ["no JSON".to_owned(), r#"{"jsonrpc":"2.0","id":1,"method":"ask"}"#.to_owned(), "[]".to_owned()]
    {
        let mut one = small();
        let mut refusals = 0;
        while one.connection.wants_input() {
            one.receive(&text);
            one.take_events();
            refusals += 1;
            assert!(refusals < 100, "{text}");
        }
        assert!(one.take_sent().len() <= 10, "{text}");
        assert!(one.connection.wants_input());
    }
}

/// A peer that writes noise and does not read must not stop this side from reading.
#[test]
fn refusals_without_an_id_are_left_out_while_sixteen_are_queued() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    for _ in 0..50_000 {
        one.receive("noise");
        assert_eq!(one.take_events().len(), 1, "each is reported");
    }
    assert!(one.connection.wants_input());
    assert_eq!(one.take_sent().len(), 16);
    one.receive_result("1", "1");
    assert_eq!(one.take_events(), [ok(call, "1")]);
    // A peer that reads gets each of them.
    for _ in 0..100 {
        one.receive("noise");
        assert_eq!(refusal(&one.take_sent()).0, "null");
    }
    // Refusals with an id are all sent.
    for id in 0..100 {
        one.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":5}}"#));
    }
    assert_eq!(one.take_sent().len(), 100);
}
