//! Reductions against a scripted server.

use futures::executor::block_on;

use super::*;
use crate::replay::{Action, Replay};

/// Answers each call with the sum, but wrongly with 0 if `a` is 13.
fn live(request: &Value) -> Option<Value> {
    let id = request.get("id")?;
    let params = &request["params"];
    let number = |name: &str| params[name].as_i64().unwrap_or_default();
    if params["a"].is_null() {
        return Some(serde_json::json!({"id": id, "error": {"code": -32602, "message": "no number"}}));
    }
    let sum = if number("a") == 13 { 0 } else { number("a") + number("b") };
    Some(serde_json::json!({"id": id, "result": {"sum": sum}}))
}

fn run(recording: &Recording) -> Option<Difference> {
    let mut replay = Replay::new(recording, Side::Client, &[], Vec::new());
    loop {
        match replay.next_action() {
            Action::Send(outgoing) => {
                let request: Value = read(&outgoing.text).unwrap();
                if let Some(answer) = live(&request) {
                    replay.receive(&RawJson::encode(&answer).unwrap());
                }
            }
            Action::Wait => assert!(replay.give_up()),
            Action::Done => return replay.differences().0.first().cloned(),
        }
    }
}

fn recording(calls: i64) -> Recording {
    let mut text = String::new();
    for id in 0..calls {
        let params = format!(r#"{{"a":{id},"b":{id},"more":{{"list":[1,2,3]}}}}"#);
        text += &format!(
            "{{\"from\":\"client\",\"message\":{{\"id\":{id},\"method\":\"add\",\"params\":{params}}}}}\n"
        );
        let sum = 2 * id;
        text +=
            &format!("{{\"from\":\"server\",\"message\":{{\"id\":{id},\"result\":{{\"sum\":{sum}}}}}}}\n");
        text += "{\"from\":\"client\",\"message\":{\"method\":\"note\"}}\n";
    }
    Recording::read(text.as_bytes()).unwrap()
}

#[test]
fn reduction_leaves_the_differing_message_and_its_needed_members() {
    let mut runs = 0;
    let reduced = block_on(reduce(&recording(20), Side::Client, 1000, async |recording| {
        runs += 1;
        ControlFlow::Continue(run(recording))
    }));
    let reduced = reduced.unwrap();
    assert_eq!(reduced.runs, runs);
    assert!(runs < 100 && !reduced.is_limited, "{runs}");
    let messages = reduced.recording.events.iter().map(|event| match &event.kind {
        EventKind::Message(message) => message.to_string(),
        other => panic!("{other:?}"),
    });
    let messages: Vec<_> = messages.collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains(r#""params":{"a":13}"#), "{messages:?}");
    assert_eq!((&*reduced.difference.method, &*reduced.difference.pointer), ("add", "/result/sum"));
}

#[test]
fn recording_without_a_difference_is_not_reduced() {
    assert_eq!(
        block_on(reduce(&recording(5), Side::Client, 100, async |recording| ControlFlow::Continue(run(
            recording
        )))),
        None
    );
}

#[test]
fn the_number_of_runs_is_limited() {
    let mut runs = 0;
    let reduced = block_on(reduce(&recording(20), Side::Client, 3, async |recording| {
        runs += 1;
        ControlFlow::Continue(run(recording))
    }));
    let reduced = reduced.unwrap();
    assert!(runs == 3 && reduced.is_limited, "{runs}");
    assert!(run(&reduced.recording).unwrap().is_like(&reduced.difference));
}

#[test]
fn break_of_a_run_returns_the_smallest_recording_so_far() {
    let mut runs = 0;
    let reduced = block_on(reduce(&recording(20), Side::Client, 1000, async |recording| {
        runs += 1;
        if runs > 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(run(recording)) }
    }));
    let reduced = reduced.unwrap();
    assert!(reduced.is_limited && reduced.runs == 6);
    assert!(reduced.recording.events.len() < recording(20).events.len());
    assert_eq!(block_on(reduce(&recording(5), Side::Client, 9, async |_| ControlFlow::Break(()))), None);
}
