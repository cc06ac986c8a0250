//! Requests of the peer: each gets one response.

use agentwire_connection::{Config, Dialect, Event};
use agentwire_jsonrpc::{ErrorObject, code};

use crate::{One, refusal};

#[test]
fn every_request_gets_one_response_with_its_own_id() {
    let mut one = One::acp();
    let ids = ["0", "-1", "1", r#""1""#, r#""\u0061\/""#, "18446744073709551615", r#""""#, "null"];
    for id in ids {
        one.receive_request(id);
    }
    let incoming = one.requests();
    assert_eq!(one.connection.pending_requests(), ids.len());
    for (incoming, id) in incoming.iter().zip(ids).rev() {
        one.answer(*incoming, "true");
        one.answer(*incoming, "false");
        one.connection.answer(*incoming, Err(ErrorObject::internal_error("again")));
        assert_eq!(one.take_sent(), [format!(r#"{{"jsonrpc":"2.0","id":{id},"result":true}}"#)]);
    }
    one.assert_idle();
}

#[test]
fn error_is_a_response() {
    let mut one = One::mcp();
    one.receive_request("1");
    let incoming = one.requests()[0];
    one.connection.answer(incoming, Err(ErrorObject::method_not_found("ask")));
    assert_eq!(
        one.take_sent(),
        [r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: ask"}}"#]
    );
}

/// A second response must not be sent for the next request.
#[test]
fn used_handle_answers_no_other_request() {
    let mut one = One::acp();
    one.receive_request("1");
    let first = one.requests()[0];
    one.answer(first, "1");
    one.take_sent();
    one.receive_request("2");
    let second = one.requests()[0];
    one.answer(first, "\"for the first\"");
    assert_eq!(one.take_sent(), [""; 0]);
    assert_eq!(one.connection.incoming_request_id(first), None);
    one.answer(second, "2");
    assert_eq!(one.take_sent(), [r#"{"jsonrpc":"2.0","id":2,"result":2}"#]);
}

#[test]
fn request_with_a_used_id_is_refused_and_the_first_goes_on() {
    let mut one = One::mcp();
    one.receive_request(r#""a""#);
    let incoming = one.requests()[0];
    for spelling in [r#""a""#, r#""\u0061""#] {
        one.receive_request(spelling);
        assert_eq!(one.take_events(), []);
        let (id, error) = refusal(&one.take_sent());
        assert_eq!((id.as_str(), error.code), (spelling, code::INVALID_REQUEST));
    }
    one.answer(incoming, "1");
    assert_eq!(one.take_sent(), [r#"{"jsonrpc":"2.0","id":"a","result":1}"#]);
    // The request is answered, so its id may be used again.
    one.receive_request(r#""a""#);
    assert_eq!(one.requests().len(), 1);
}

/// Each open request is found by its id, with and without the index, while their number rises and falls.
#[test]
fn id_among_many_is_in_use_until_its_request_is_answered() {
    let ids: Vec<_> = (0..40).map(|n| if n % 2 == 0 { n.to_string() } else { format!("\"{n}\"") }).collect();
    let mut one = One::acp();
    let mut incoming = Vec::new();
    let check = |one: &mut One, id: &String, is_taken: bool| {
        one.receive_request(id);
        let begun = one.requests();
        assert_eq!((begun.is_empty(), one.take_sent().len()), (is_taken, usize::from(is_taken)), "{id}");
        begun.into_iter().next()
    };
    for (many, id) in ids.iter().enumerate() {
        one.receive_request("null");
        let nameless = one.requests()[0];
        incoming.extend(check(&mut one, id, false));
        one.answer(nameless, "0");
        one.take_sent();
        ids[..=many].iter().for_each(|id| assert!(check(&mut one, id, true).is_none()));
    }
    for (many, (first, id)) in incoming.into_iter().zip(&ids).enumerate() {
        one.answer(first, "1");
        one.take_sent();
        let again = check(&mut one, id, false).expect("it has been answered");
        one.answer(again, "2");
        one.take_sent();
        ids[many + 1..].iter().for_each(|id| assert!(check(&mut one, id, true).is_none()));
    }
    one.assert_idle();
}

/// Without a response the peer does not know when the request has ended, so its id is in use until the handler ends.
#[test]
fn cancelled_request_keeps_its_id_until_it_is_answered() {
    let mut one = One::mcp();
    one.receive_request("1");
    let incoming = one.requests()[0];
    one.receive(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    one.take_events();
    one.receive_request("1");
    assert_eq!(refusal(&one.take_sent()).1.code, code::INVALID_REQUEST);
    one.answer(incoming, "1");
    one.receive_request("1");
    assert_eq!((one.requests().len(), one.take_sent()), (1, vec![]));
}

#[test]
fn null_id_is_accepted_in_acp_and_refused_in_mcp() {
    let mut one = One::acp();
    one.receive_request("null");
    one.receive_request("null");
    let incoming = one.requests();
    one.receive(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":null}}"#);
    assert_eq!(one.take_events(), []);
    one.answer(incoming[1], "2");
    one.answer(incoming[0], "1");
    assert_eq!(
        one.take_sent(),
        [r#"{"jsonrpc":"2.0","id":null,"result":2}"#, r#"{"jsonrpc":"2.0","id":null,"result":1}"#]
    );
    one.assert_idle();

    let mut one = One::mcp();
    one.receive_request("null");
    assert_eq!(one.take_events(), []);
    let (id, error) = refusal(&one.take_sent());
    assert_eq!((id.as_str(), error.code), ("null", code::INVALID_REQUEST));
    one.assert_idle();
}

#[test]
fn request_over_the_limit_is_refused_until_one_is_answered() {
    let mut one = One::new(Config::new(Dialect::ACP).request_limit(2));
    one.receive_request("1");
    one.receive_request("2");
    let incoming = one.requests();
    one.receive_request("3");
    assert_eq!(one.take_events(), []);
    let (id, error) = refusal(&one.take_sent());
    assert_eq!((id.as_str(), error.code), ("3", code::INTERNAL_ERROR));
    assert_eq!(error.data.unwrap().as_str(), r#"{"limit":2}"#);
    assert!(error.message.contains('2'), "{}", error.message);

    one.answer(incoming[0], "1");
    one.receive_request("3");
    assert_eq!(one.requests().len(), 1);
    assert_eq!(one.connection.pending_requests(), 2);
}

#[test]
fn unreadable_message_is_answered_if_it_may_be_a_request() {
    let mut one = One::acp();
    for (text, answer) in [
        ("log line", Some(("null", code::PARSE_ERROR))),
        (r#"{"jsonrpc":"2.0","id":5,"method":1}"#, Some(("5", code::INVALID_REQUEST))),
        (r#"{"id":"x","method":"m"}"#, Some((r#""x""#, code::INVALID_REQUEST))),
        ("[]", Some(("null", code::INVALID_REQUEST))),
        (r#"{"jsonrpc":"2.0","method":"m","params":3}"#, None),
        (r#"{"method":"m"}"#, None),
    ] {
        one.receive(text);
        match answer {
            Some((id, code)) => {
                let (refused, error) = refusal(&one.take_sent());
                assert_eq!((refused.as_str(), error.code), (id, code), "{text}");
            }
            None => assert_eq!(one.take_sent(), [""; 0], "{text}"),
        }
        // An unreadable request with an id is answered. Anything else is reported here.
        match (answer, &one.take_events()[..]) {
            (Some((id, _)), []) if id != "null" => {}
            (Some(("null", code)), [Event::Unreadable(error)]) => assert_eq!(error.code, code, "{text}"),
            (None, [Event::Unreadable(_)]) => {}
            (_, events) => panic!("{text}: {events:?}"),
        }
        one.assert_idle();
    }
}

/// The error for an unreadable message has the id null. If it were answered, two peers could answer each other for ever.
#[test]
fn refusal_is_not_answered() {
    let mut pair = crate::pair::Pair::acp();
    pair.right.receive("no JSON");
    pair.right_to_left();
    assert!(matches!(&pair.left.take_events()[..], [Event::UnmatchedResponse(stray)] if stray.id.is_null()));
    assert!(matches!(&pair.right.take_events()[..], [Event::Unreadable(_)]));
    pair.left_to_right();
    pair.assert_idle();
}

#[test]
fn requests_and_notifications_keep_their_order() {
    let mut one = One::mcp();
    one.receive(r#"{"jsonrpc":"2.0","method":"a"}"#);
    one.receive_request("1");
    one.receive(r#"{"jsonrpc":"2.0","method":"b","params":[1]}"#);
    let events = one.take_events();
    let [Event::Notification(a), Event::Request { request, in_batch: false, .. }, Event::Notification(b)] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((&*a.method, &*request.method, &*b.method), ("a", "ask", "b"));
}
