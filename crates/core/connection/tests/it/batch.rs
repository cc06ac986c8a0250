//! Arrays of messages, which one revision of MCP has.

use agentwire_connection::{CallFailure, CallOptions, Config, Dialect, Event};
use agentwire_jsonrpc::code;

use crate::{One, ok, refusal};

fn ask(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ask"}}"#)
}

fn asks(ids: &[&str]) -> String {
    format!("[{}]", ids.iter().map(|id| ask(id)).collect::<Vec<_>>().join(","))
}

fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn cancel(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

/// The ids of the answers in the one array that was said, and the codes of those that are errors.
#[track_caller]
fn answers(said: &[String]) -> Vec<(String, Option<i64>)> {
    let [text] = said else { panic!("one array, not {said:?}") };
    let answers: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
    answers
        .iter()
        .map(|answer| {
            assert_ne!(answer.get("result").is_some(), answer.get("error").is_some(), "{answer}");
            (answer["id"].to_string(), answer["error"]["code"].as_i64())
        })
        .collect()
}

fn taken(id: &str) -> (String, Option<i64>) {
    (id.to_owned(), None)
}

fn refused(id: &str, code: i64) -> (String, Option<i64>) {
    (id.to_owned(), Some(code))
}

#[test]
fn is_refused_as_a_whole_where_there_are_none() {
    for mut one in [One::acp(), One::mcp()] {
        one.hear(&asks(&["1", "2"]));
        let (id, error) = refusal(&one.said());
        assert_eq!((id.as_str(), error.code), ("null", code::INVALID_REQUEST));
        assert_eq!(one.happened(), [Event::Unreadable(error)]);
        one.assert_idle();
    }
    let mut one = One::mcp_with_batches();
    one.connection.set_batches(false);
    one.hear(&asks(&["1"]));
    assert!(matches!(&one.happened()[..], [Event::Unreadable(_)]));
}

#[test]
fn answers_leave_together_when_the_last_is_there() {
    let mut one = One::mcp_with_batches();
    one.hear(&asks(&["1", r#""b""#, "3"]));
    let events = one.happened();
    assert!(events.iter().all(|event| matches!(event, Event::Request { in_batch: true, .. })));
    let incoming: Vec<_> = events
        .into_iter()
        .map(|event| if let Event::Request { incoming, .. } = event { incoming } else { unreachable!() })
        .collect();
    one.answer(incoming[2], "3");
    one.answer(incoming[2], "3");
    one.answer(incoming[0], "1");
    assert_eq!(one.said(), [""; 0]);

    // What is asked alone is answered alone, and does not wait.
    one.hear(&ask("4"));
    let alone = one.requests()[0];
    one.answer(alone, "4");
    assert_eq!(one.said(), [result("4", "4")]);

    one.connection.answer(incoming[1], Err(agentwire_jsonrpc::ErrorObject::internal_error("x")));
    assert_eq!(answers(&one.said()), [taken("3"), taken("1"), refused(r#""b""#, code::INTERNAL_ERROR)]);
    one.assert_idle();
}

#[test]
fn two_at_once_do_not_mix() {
    let mut one = One::mcp_with_batches();
    one.hear(&asks(&["1", "2"]));
    one.hear(&asks(&["3", "4"]));
    let incoming = one.requests();
    for (index, answer) in [(0, "1"), (3, "4"), (2, "3")] {
        one.answer(incoming[index], answer);
    }
    assert_eq!(answers(&one.said()), [taken("4"), taken("3")]);
    one.answer(incoming[1], "2");
    assert_eq!(answers(&one.said()), [taken("1"), taken("2")]);
    one.assert_idle();
}

#[test]
fn of_what_is_not_answered_is_not_answered() {
    let mut one = One::mcp_with_batches();
    let call = one.call(CallOptions::new());
    let failing = one.call(CallOptions::new());
    let note = r#"{"jsonrpc":"2.0","method":"note"}"#;
    one.hear(&format!("[{note},{note}]"));
    one.hear(&format!("[{},{}]", result("1", "5"), result("9", "0")));
    one.hear(r#"[{"id":2,"result":0},{"method":"note"}]"#);
    let events = one.happened();
    let [notes @ .., answered, Event::UnmatchedResponse(_), malformed, Event::Unreadable(_)] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert!(matches!(notes, [Event::Notification(_), Event::Notification(_)]));
    assert_eq!(*answered, ok(call, "5"));
    assert!(
        matches!(malformed, Event::CallEnded { call, outcome: Err(CallFailure::Malformed(_)) } if *call == failing)
    );
    assert_eq!(one.said(), [""; 0]);
    one.assert_idle();
}

#[test]
fn one_bad_element_does_not_spoil_the_others() {
    let mut one = One::mcp_with_batches();
    one.hear(&ask("7"));
    let earlier = one.requests()[0];
    let elements = [
        ask("1"),
        "5".into(),
        ask("1"),
        ask("null"),
        ask("7"),
        r#"{"jsonrpc":"2.0","id":2,"method":false}"#.into(),
        r#"{"jsonrpc":"2.0","method":"note"}"#.into(),
        ask("3"),
    ];
    one.hear(&format!("[{}]", elements.join(",")));
    let events = one.happened();
    let [
        Event::Request { incoming: first, .. },
        Event::Notification(_),
        Event::Request { incoming: last, .. },
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(one.said(), [""; 0]);
    one.answer(last, "3");
    one.answer(first, "1");
    assert_eq!(
        answers(&one.said()),
        [
            refused("null", code::INVALID_REQUEST),
            refused("1", code::INVALID_REQUEST),
            refused("null", code::INVALID_REQUEST),
            refused("7", code::INVALID_REQUEST),
            refused("2", code::INVALID_REQUEST),
            taken("3"),
            taken("1"),
        ]
    );
    one.answer(earlier, "7");
    assert_eq!(one.said(), [result("7", "7")]);
    one.assert_idle();
}

#[test]
fn of_bad_elements_only_is_answered_at_once() {
    let mut one = One::mcp_with_batches();
    one.hear("[1,2]");
    assert_eq!(
        answers(&one.said()),
        [refused("null", code::INVALID_REQUEST), refused("null", code::INVALID_REQUEST)]
    );
    one.assert_idle();
}

#[test]
fn cancelled_request_is_left_out() {
    let mut one = One::mcp_with_batches();
    one.hear(&asks(&["1", "2", "3"]));
    let incoming = one.requests();
    one.hear(&cancel("2"));
    assert_eq!(one.happened(), [Event::Cancelled(incoming[1])]);
    one.answer(incoming[0], "1");
    one.answer(incoming[2], "3");
    // It is over only when its handler is.
    assert_eq!(one.said(), [""; 0]);
    one.answer(incoming[1], "2");
    assert_eq!(answers(&one.said()), [taken("1"), taken("3")]);
    one.assert_idle();
}

#[test]
fn cancelled_as_a_whole_is_silence() {
    let mut one = One::mcp_with_batches();
    one.hear(&asks(&["1", "2"]));
    let incoming = one.requests();
    one.hear(&format!("[{},{}]", cancel("1"), cancel("2")));
    assert_eq!(one.happened(), [Event::Cancelled(incoming[0]), Event::Cancelled(incoming[1])]);
    one.answer(incoming[1], "2");
    one.answer(incoming[0], "1");
    assert_eq!(one.said(), [""; 0]);
    one.assert_idle();
}

#[test]
fn may_cancel_what_it_asks() {
    let mut one = One::mcp_with_batches();
    one.hear(&format!("[{},{},{}]", ask("1"), cancel("1"), ask("2")));
    let events = one.happened();
    let [
        Event::Request { incoming: first, .. },
        Event::Cancelled(cancelled),
        Event::Request { incoming: second, .. },
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(first, cancelled);
    one.answer(second, "2");
    one.connection.handle_caller_left(&2u64.into());
    one.answer(first, "1");
    assert_eq!(answers(&one.said()), [taken("2")]);
    one.assert_idle();
}

#[test]
fn abandoned_request_is_left_out() {
    let mut one = One::mcp_with_batches();
    one.hear(&asks(&["1", "2"]));
    let incoming = one.requests();
    one.connection.handle_caller_left(&1u64.into());
    assert_eq!(one.happened(), [Event::Cancelled(incoming[0])]);
    one.answer(incoming[0], "1");
    one.answer(incoming[1], "2");
    assert_eq!(answers(&one.said()), [taken("2")]);
    one.assert_idle();
}

#[test]
fn the_limit_holds_within() {
    let mut one = One::new(Config::new(Dialect::MCP).request_limit(2));
    one.connection.set_batches(true);
    one.hear(&asks(&["1", "2", "3"]));
    let incoming = one.requests();
    assert_eq!(incoming.len(), 2);
    one.answer(incoming[0], "1");
    one.answer(incoming[1], "2");
    assert_eq!(answers(&one.said()), [refused("3", code::INTERNAL_ERROR), taken("1"), taken("2")]);
    one.assert_idle();
}

/// One request that never ends holds back the answers to its whole batch. A peer must not be able to heap up
/// those, batch upon batch.
#[test]
fn answers_held_back_count_as_waiting() {
    let mut one = One::new(Config::new(Dialect::MCP).request_limit(10));
    one.connection.set_batches(true);
    let mut hanging = Vec::new();
    let mut said = Vec::new();
    for round in 0..100 {
        let bad = ["1"; 20].join(",");
        one.hear(&format!("[{},{bad}]", ask(&format!("\"{round}\""))));
        hanging.extend(one.requests());
        said.extend(one.said());
    }
    assert_eq!(hanging.len(), 1);
    assert_eq!(said.len(), 99);
    one.answer(hanging[0], "0");
    assert_eq!(answers(&one.said()).len(), 21);
    one.assert_idle();

    // The same with answers that were given.
    let ids: Vec<_> = (0..9).map(|id| id.to_string()).collect();
    one.hear(&asks(&ids.iter().map(String::as_str).collect::<Vec<_>>()));
    let incoming = one.requests();
    for incoming in &incoming[1..] {
        one.answer(*incoming, "0");
    }
    one.hear(&asks(&["10", "11"]));
    let more = one.requests();
    assert_eq!(more.len(), 1, "nine wait or are held, so one more is taken");
    one.answer(more[0], "0");
    one.answer(incoming[0], "0");
    assert_eq!(one.said().len(), 2);
    one.assert_idle();
}

#[test]
fn the_answers_belong_to_the_first_request_with_an_id() {
    let mut one = One::mcp_with_batches();
    one.hear(&format!("[1,{}]", ask(r#""a""#)));
    let incoming = one.requests()[0];
    one.answer(incoming, "0");
    assert_eq!(one.transmits()[0].in_reply_to, Some("a".into()));
}

/// A batch's answers wait for each other, and so cannot wait for room.
#[test]
fn answers_that_wait_in_batches_are_bounded() {
    let mut one = One::new(Config::new(Dialect::MCP).batch_response_limit(1_000));
    one.connection.set_batches(true);
    let request = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ask"}}"#);
    let ask = |one: &mut One, ids: [u8; 3]| {
        one.hear(&format!("[{}]", ids.map(request).join(",")));
        one.requests()
    };
    let long = format!("\"{}\"", "x".repeat(600));
    let (first, second) = (ask(&mut one, [1, 2, 3]), ask(&mut one, [4, 5, 6]));
    for incoming in [first[0], second[0]] {
        one.answer(incoming, &long);
    }
    for incoming in [&first[1..], &second[1..]].concat() {
        one.answer(incoming, "0");
    }
    let said = one.said();
    assert_eq!(said.len(), 2);
    assert!(said[0].contains(&long) && !said[0].contains("error"), "{}", said[0]);
    assert!(said[1].contains("1000 bytes") && said[1].matches("\"result\":0").count() == 2, "{}", said[1]);
    one.assert_idle();
    // There is room again.
    let third = ask(&mut one, [7, 8, 9]);
    one.answer(third[0], &long);
    third[1..].iter().for_each(|incoming| one.answer(*incoming, "0"));
    assert!(one.said()[0].contains(&long));
}
