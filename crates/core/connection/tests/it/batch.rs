//! Batches, which one revision of MCP allows.

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

/// The ids of the responses in the only batch that was sent, each with the code if it is an error.
#[track_caller]
fn answers(sent: &[String]) -> Vec<(String, Option<i64>)> {
    let [text] = sent else { panic!("one array, not {sent:?}") };
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
fn array_is_refused_as_a_whole_without_batches() {
    for mut one in [One::acp(), One::mcp()] {
        one.receive(&asks(&["1", "2"]));
        let (id, error) = refusal(&one.take_sent());
        assert_eq!((id.as_str(), error.code), ("null", code::INVALID_REQUEST));
        assert_eq!(one.take_events(), [Event::Unreadable(error)]);
        one.assert_idle();
    }
    let mut one = One::mcp_with_batches();
    one.connection.set_batches(false);
    one.receive(&asks(&["1"]));
    assert!(matches!(&one.take_events()[..], [Event::Unreadable(_)]));
}

#[test]
fn responses_are_sent_together_after_the_last() {
    let mut one = One::mcp_with_batches();
    one.receive(&asks(&["1", r#""b""#, "3"]));
    let events = one.take_events();
    assert!(events.iter().all(|event| matches!(event, Event::Request { in_batch: true, .. })));
    let incoming: Vec<_> = events
        .into_iter()
        .map(|event| if let Event::Request { incoming, .. } = event { incoming } else { unreachable!() })
        .collect();
    one.answer(incoming[2], "3");
    one.answer(incoming[2], "3");
    one.answer(incoming[0], "1");
    assert_eq!(one.take_sent(), [""; 0]);

    // A single request gets a single response, which does not wait.
    one.receive(&ask("4"));
    let alone = one.requests()[0];
    one.answer(alone, "4");
    assert_eq!(one.take_sent(), [result("4", "4")]);

    one.connection.answer(incoming[1], Err(agentwire_jsonrpc::ErrorObject::internal_error("x")));
    assert_eq!(answers(&one.take_sent()), [taken("3"), taken("1"), refused(r#""b""#, code::INTERNAL_ERROR)]);
    one.assert_idle();
}

#[test]
fn responses_of_two_batches_do_not_mix() {
    let mut one = One::mcp_with_batches();
    one.receive(&asks(&["1", "2"]));
    one.receive(&asks(&["3", "4"]));
    let incoming = one.requests();
    for (index, answer) in [(0, "1"), (3, "4"), (2, "3")] {
        one.answer(incoming[index], answer);
    }
    assert_eq!(answers(&one.take_sent()), [taken("4"), taken("3")]);
    one.answer(incoming[1], "2");
    assert_eq!(answers(&one.take_sent()), [taken("1"), taken("2")]);
    one.assert_idle();
}

#[test]
fn batch_without_requests_is_not_answered() {
    let mut one = One::mcp_with_batches();
    let call = one.call(CallOptions::new());
    let failing = one.call(CallOptions::new());
    let note = r#"{"jsonrpc":"2.0","method":"note"}"#;
    one.receive(&format!("[{note},{note}]"));
    one.receive(&format!("[{},{}]", result("1", "5"), result("9", "0")));
    one.receive(r#"[{"id":2,"result":0},{"method":"note"}]"#);
    let events = one.take_events();
    let [notes @ .., answered, Event::UnmatchedResponse(_), malformed, Event::Unreadable(_)] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert!(matches!(notes, [Event::Notification(_), Event::Notification(_)]));
    assert_eq!(*answered, ok(call, "5"));
    assert!(
        matches!(malformed, Event::CallEnded { call, outcome: Err(CallFailure::Malformed(_)) } if *call == failing)
    );
    assert_eq!(one.take_sent(), [""; 0]);
    one.assert_idle();
}

#[test]
fn malformed_element_does_not_affect_the_others() {
    let mut one = One::mcp_with_batches();
    one.receive(&ask("7"));
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
    one.receive(&format!("[{}]", elements.join(",")));
    let events = one.take_events();
    let [
        Event::Request { incoming: first, .. },
        Event::Notification(_),
        Event::Request { incoming: last, .. },
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(one.take_sent(), [""; 0]);
    one.answer(last, "3");
    one.answer(first, "1");
    assert_eq!(
        answers(&one.take_sent()),
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
    assert_eq!(one.take_sent(), [result("7", "7")]);
    one.assert_idle();
}

#[test]
fn batch_of_malformed_elements_is_answered_at_once() {
    let mut one = One::mcp_with_batches();
    one.receive("[1,2]");
    assert_eq!(
        answers(&one.take_sent()),
        [refused("null", code::INVALID_REQUEST), refused("null", code::INVALID_REQUEST)]
    );
    one.assert_idle();
}

#[test]
fn cancelled_request_is_left_out() {
    let mut one = One::mcp_with_batches();
    one.receive(&asks(&["1", "2", "3"]));
    let incoming = one.requests();
    one.receive(&cancel("2"));
    assert_eq!(one.take_events(), [Event::Cancelled(incoming[1])]);
    one.answer(incoming[0], "1");
    one.answer(incoming[2], "3");
    // The cancelled request is pending until its handler ends.
    assert_eq!(one.take_sent(), [""; 0]);
    one.answer(incoming[1], "2");
    assert_eq!(answers(&one.take_sent()), [taken("1"), taken("3")]);
    one.assert_idle();
}

#[test]
fn batch_of_cancelled_requests_is_not_answered() {
    let mut one = One::mcp_with_batches();
    one.receive(&asks(&["1", "2"]));
    let incoming = one.requests();
    one.receive(&format!("[{},{}]", cancel("1"), cancel("2")));
    assert_eq!(one.take_events(), [Event::Cancelled(incoming[0]), Event::Cancelled(incoming[1])]);
    one.answer(incoming[1], "2");
    one.answer(incoming[0], "1");
    assert_eq!(one.take_sent(), [""; 0]);
    one.assert_idle();
}

#[test]
fn batch_may_cancel_its_own_requests() {
    let mut one = One::mcp_with_batches();
    one.receive(&format!("[{},{},{}]", ask("1"), cancel("1"), ask("2")));
    let events = one.take_events();
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
    assert_eq!(answers(&one.take_sent()), [taken("2")]);
    one.assert_idle();
}

#[test]
fn abandoned_request_is_left_out() {
    let mut one = One::mcp_with_batches();
    one.receive(&asks(&["1", "2"]));
    let incoming = one.requests();
    one.connection.handle_caller_left(&1u64.into());
    assert_eq!(one.take_events(), [Event::Cancelled(incoming[0])]);
    one.answer(incoming[0], "1");
    one.answer(incoming[1], "2");
    assert_eq!(answers(&one.take_sent()), [taken("2")]);
    one.assert_idle();
}

#[test]
fn request_limit_applies_within_a_batch() {
    let mut one = One::new(Config::new(Dialect::MCP).request_limit(2));
    one.connection.set_batches(true);
    one.receive(&asks(&["1", "2", "3"]));
    let incoming = one.requests();
    assert_eq!(incoming.len(), 2);
    one.answer(incoming[0], "1");
    one.answer(incoming[1], "2");
    assert_eq!(answers(&one.take_sent()), [refused("3", code::INTERNAL_ERROR), taken("1"), taken("2")]);
    one.assert_idle();
}

/// One request that never ends holds back the responses to its whole batch. A peer must not be able to accumulate those over many
/// batches.
#[test]
fn held_responses_count_as_unanswered_requests() {
    let mut one = One::new(Config::new(Dialect::MCP).request_limit(10));
    one.connection.set_batches(true);
    let mut hanging = Vec::new();
    let mut sent = Vec::new();
    for round in 0..100 {
        let bad = ["1"; 20].join(",");
        one.receive(&format!("[{},{bad}]", ask(&format!("\"{round}\""))));
        hanging.extend(one.requests());
        sent.extend(one.take_sent());
    }
    assert_eq!(hanging.len(), 1);
    assert_eq!(sent.len(), 99);
    one.answer(hanging[0], "0");
    assert_eq!(answers(&one.take_sent()).len(), 21);
    one.assert_idle();

    // The same with responses of handlers.
    let ids: Vec<_> = (0..9).map(|id| id.to_string()).collect();
    one.receive(&asks(&ids.iter().map(String::as_str).collect::<Vec<_>>()));
    let incoming = one.requests();
    for incoming in &incoming[1..] {
        one.answer(*incoming, "0");
    }
    one.receive(&asks(&["10", "11"]));
    let more = one.requests();
    assert_eq!(more.len(), 1, "nine wait or are held, so one more is taken");
    one.answer(more[0], "0");
    one.answer(incoming[0], "0");
    assert_eq!(one.take_sent().len(), 2);
    one.assert_idle();
}

#[test]
fn responses_belong_to_the_first_request_with_an_id() {
    let mut one = One::mcp_with_batches();
    one.receive(&format!("[1,{}]", ask(r#""a""#)));
    let incoming = one.requests()[0];
    one.answer(incoming, "0");
    assert_eq!(one.transmits()[0].in_reply_to, Some("a".into()));
}

/// The responses of a batch wait for each other, so they cannot wait for room.
#[test]
fn held_responses_are_bounded() {
    let mut one = One::new(Config::new(Dialect::MCP).batch_response_limit(1_000));
    one.connection.set_batches(true);
    let request = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ask"}}"#);
    let ask = |one: &mut One, ids: [u8; 3]| {
        one.receive(&format!("[{}]", ids.map(request).join(",")));
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
    let sent = one.take_sent();
    assert_eq!(sent.len(), 2);
    assert!(sent[0].contains(&long) && !sent[0].contains("error"), "{}", sent[0]);
    assert!(sent[1].contains("1000 bytes") && sent[1].matches("\"result\":0").count() == 2, "{}", sent[1]);
    one.assert_idle();
    // There is room again.
    let third = ask(&mut one, [7, 8, 9]);
    one.answer(third[0], &long);
    third[1..].iter().for_each(|incoming| one.answer(*incoming, "0"));
    assert!(one.take_sent()[0].contains(&long));
}
