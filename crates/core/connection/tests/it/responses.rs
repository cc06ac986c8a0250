//! Connections that send no responses, or only to requests whose id could be read.

use agentwire_connection::{Config, Dialect, Event, ResponsePolicy};
use agentwire_jsonrpc::code;

use crate::{One, refusal};

fn one(responses: ResponsePolicy) -> One {
    One::new(Config::new(Dialect::MCP).responses(responses))
}

/// Messages that are answered by default, each with the code of the error, and whether its id can be read.
const REFUSED: [(&str, i64, bool); 4] = [
    ("{", code::PARSE_ERROR, false),
    ("[]", code::INVALID_REQUEST, false),
    (r#"{"jsonrpc":"2.0","id":5,"method":1}"#, code::INVALID_REQUEST, true),
    (r#"{"jsonrpc":"2.0","id":null,"method":"ask"}"#, code::INVALID_REQUEST, false),
];

#[test]
fn message_without_a_response_becomes_one_event() {
    for responses in [ResponsePolicy::WithId, ResponsePolicy::None] {
        let mut one = one(responses);
        for (text, code, has_id) in REFUSED {
            one.receive(text);
            if has_id && responses == ResponsePolicy::WithId {
                assert_eq!(refusal(&one.take_sent()).1.code, code, "{text}");
                assert_eq!(one.take_events(), [], "{text}");
            } else {
                assert_eq!(one.take_sent(), [""; 0], "{text}");
                let events = one.take_events();
                let [Event::Unreadable(error)] = &events[..] else { panic!("{text}: {events:?}") };
                assert_eq!(error.code, code, "{text}");
            }
        }
        one.assert_idle();
    }
}

#[test]
fn requests_are_delivered_only_where_they_get_a_response() {
    let mut silent = one(ResponsePolicy::None);
    silent.receive_request("1");
    assert!(
        matches!(&silent.take_events()[..], [Event::Unreadable(error)] if error.code == code::INVALID_REQUEST)
    );
    assert_eq!(silent.take_sent(), [""; 0]);
    silent.assert_idle();

    let mut one = one(ResponsePolicy::WithId);
    one.receive_request("1");
    let incoming = one.requests();
    one.answer(incoming[0], "2");
    assert_eq!(one.take_sent(), [r#"{"jsonrpc":"2.0","id":1,"result":2}"#]);
    one.assert_idle();
}

#[test]
fn response_is_sent_only_while_the_policy_allows_it() {
    let mut one = one(ResponsePolicy::All);
    one.receive_request("1");
    let incoming = one.requests();
    one.connection.set_responses(ResponsePolicy::None);
    one.answer(incoming[0], "2");
    assert_eq!(one.take_sent(), [""; 0]);
    one.assert_idle();

    one.connection.set_responses(ResponsePolicy::All);
    one.receive("{");
    assert_eq!(refusal(&one.take_sent()).1.code, code::PARSE_ERROR);
}

#[test]
fn batch_gets_no_response_under_the_policy_none() {
    let mut one = one(ResponsePolicy::None);
    one.connection.set_batches(true);
    one.receive(r#"[{"jsonrpc":"2.0","id":1,"method":"ask"},7,{"jsonrpc":"2.0","id":2,"method":1}]"#);
    assert_eq!(one.take_sent(), [""; 0]);
    assert_eq!(one.take_events().len(), 3);
    one.assert_idle();
}
