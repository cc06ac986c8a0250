//! The memory that a peer can make a connection hold.

use agentwire_connection::{CallOptions, Config, Dialect};
use agentwire_jsonrpc::ErrorObject;

use crate::{One, json, ok, refusal};

fn small() -> One {
    One::new(Config::new(Dialect::ACP).request_limit(3).high_water(200).backlog_limit(0))
}

#[test]
fn there_is_room_until_the_high_water() {
    let mut one = small();
    assert!(one.connection.has_room());
    one.notify("note");
    one.notify("note");
    assert!(one.connection.has_room());
    one.connection.notify("note", Some(json(&format!("[\"{}\"]", "x".repeat(100)))), None);
    assert!(!one.connection.has_room());
    // What was said regardless is kept, and in order.
    one.notify("last");
    assert!(one.connection.wants_output());
    assert_eq!(one.said().len(), 4);
    assert!(one.connection.has_room() && !one.connection.wants_output());
}

/// A coalesced notification is queued once, however often it is sent to a peer that does not read.
#[test]
fn news_waits_once() {
    let mut one = small();
    let tell = |one: &mut One, text, in_reply_to: Option<u64>| {
        one.connection.notify_coalesced("news", Some(json(text)), in_reply_to.map(Into::into))
    };
    assert!(tell(&mut one, "[1]", None));
    one.notify("note");
    assert!(!tell(&mut one, "[1]", None));
    assert!(tell(&mut one, "[2]", None) && tell(&mut one, "[1]", Some(1)), "that is something else");
    assert_eq!(one.said().len(), 4);
    assert!(tell(&mut one, "[1]", None), "it has been sent, and may be said again");
    assert_eq!(one.said().len(), 1);
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
fn room_counts_requests_that_were_taken_back() {
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
fn room_counts_errors_as_large_as_they_are() {
    let mut one = small();
    one.hear_request("1");
    let incoming = one.requests()[0];
    one.connection.answer(incoming, Err(ErrorObject::internal_error("x".repeat(1000))));
    assert!(!one.connection.has_room());
}

/// Reading stops only when the queue is full and as many requests wait as may: were a full queue alone enough,
/// two peers that both write would wait for each other for ever.
#[test]
fn input_is_wanted_until_the_queue_and_the_requests_are_at_their_limits() {
    let mut one = small();
    one.hear_request("1");
    one.hear_request("2");
    one.hear_request("3");
    let incoming = one.requests();
    assert!(one.connection.wants_input(), "requests alone: more are refused, which frees the memory at once");

    let mut full = small();
    (0..9).for_each(|_| full.notify("note"));
    assert!(full.connection.wants_input(), "a full queue alone: the answers we wait for could be behind it");

    (0..9).for_each(|_| one.notify("note"));
    assert!(!one.connection.wants_input());
    // An answer in the queue still costs what the request did.
    one.answer(incoming[0], "0");
    assert!(!one.connection.wants_input());
    one.said();
    assert!(one.connection.wants_input());
}

/// A peer that asks and asks, wrongly or too much, and never reads.
#[test]
fn refusals_are_bounded_too() {
    for text in
        ["no JSON".to_owned(), r#"{"jsonrpc":"2.0","id":1,"method":"ask"}"#.to_owned(), "[]".to_owned()]
    {
        let mut one = small();
        let mut heard = 0;
        while one.connection.wants_input() {
            one.hear(&text);
            one.happened();
            heard += 1;
            assert!(heard < 100, "{text}");
        }
        assert!(one.said().len() <= 10, "{text}");
        assert!(one.connection.wants_input());
    }
}

/// A peer that writes noise and does not read must not stop this side from reading.
#[test]
fn refusals_without_an_id_are_left_out_while_sixteen_are_queued() {
    let mut one = One::acp();
    let call = one.call(CallOptions::new());
    for _ in 0..50_000 {
        one.hear("noise");
        assert_eq!(one.happened().len(), 1, "each is reported");
    }
    assert!(one.connection.wants_input());
    assert_eq!(one.said().len(), 16);
    one.hear_result("1", "1");
    assert_eq!(one.happened(), [ok(call, "1")]);
    // A peer that reads gets each of them.
    for _ in 0..100 {
        one.hear("noise");
        assert_eq!(refusal(&one.said()).0, "null");
    }
    // Those with an id are all sent.
    for id in 0..100 {
        one.hear(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":5}}"#));
    }
    assert_eq!(one.said().len(), 100);
}
