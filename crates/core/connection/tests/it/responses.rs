//! Connections that send no responses, or only to requests whose id could be read.

use agentwire_connection::{Config, Dialect, Event, ResponsePolicy};
use agentwire_jsonrpc::code;

use crate::{One, refusal};

fn one(responses: ResponsePolicy) -> One {
    One::new(Config::new(Dialect::MCP).responses(responses))
}

/// Messages that are answered by default, the code of the error, and whether their id can be read.
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
            one.hear(text);
            if has_id && responses == ResponsePolicy::WithId {
                assert_eq!(refusal(&one.said()).1.code, code, "{text}");
                assert_eq!(one.happened(), [], "{text}");
            } else {
                assert_eq!(one.said(), [""; 0], "{text}");
                let events = one.happened();
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
    silent.hear_request("1");
    assert!(
        matches!(&silent.happened()[..], [Event::Unreadable(error)] if error.code == code::INVALID_REQUEST)
    );
    assert_eq!(silent.said(), [""; 0]);
    silent.assert_idle();

    let mut one = one(ResponsePolicy::WithId);
    one.hear_request("1");
    let incoming = one.requests();
    one.answer(incoming[0], "2");
    assert_eq!(one.said(), [r#"{"jsonrpc":"2.0","id":1,"result":2}"#]);
    one.assert_idle();
}

#[test]
fn an_answer_is_dropped_once_there_are_no_responses_and_sent_once_there_are() {
    let mut one = one(ResponsePolicy::All);
    one.hear_request("1");
    let incoming = one.requests();
    one.connection.set_responses(ResponsePolicy::None);
    one.answer(incoming[0], "2");
    assert_eq!(one.said(), [""; 0]);
    one.assert_idle();

    one.connection.set_responses(ResponsePolicy::All);
    one.hear("{");
    assert_eq!(refusal(&one.said()).1.code, code::PARSE_ERROR);
}

#[test]
fn a_batch_gets_no_response_either() {
    let mut one = one(ResponsePolicy::None);
    one.connection.set_batches(true);
    one.hear(r#"[{"jsonrpc":"2.0","id":1,"method":"ask"},7,{"jsonrpc":"2.0","id":2,"method":1}]"#);
    assert_eq!(one.said(), [""; 0]);
    assert_eq!(one.happened().len(), 3);
    one.assert_idle();
}
