//! Replays against scripted pipes, without a clock.

use std::future::{Future, pending, poll_fn, ready};
use std::task::Poll;

use agentwire_transport::{Packet, duplex};
use bytestring::ByteString;
use futures::executor::block_on;
use futures::future::join;
use futures::{SinkExt, StreamExt, TryStreamExt, stream};

use super::*;

/// A recording of lines `client MESSAGE` and `server MESSAGE`.
fn recording(lines: &[&str]) -> Recording {
    let line = |line: &&str| {
        let (from, message) = line.split_once(' ').unwrap();
        format!("{{\"from\":\"{from}\",\"message\":{message}}}\n")
    };
    Recording::read(lines.iter().map(line).collect::<String>().as_bytes()).unwrap()
}

fn json(text: &str) -> RawJson {
    RawJson::parse(ByteString::from(text)).unwrap()
}

fn new(recording: &Recording, side: Side) -> Replay {
    Replay::new(recording, side, &[], Vec::new())
}

fn sent(replay: &mut Replay) -> String {
    match replay.next_action() {
        Action::Send(outgoing) => outgoing.text,
        other => panic!("{other:?}"),
    }
}

fn shown(replay: &Replay) -> Vec<String> {
    replay.differences().0.iter().map(ToString::to_string).collect()
}

const SESSION: &[&str] = &[
    r#"client {"id":0,"method":"session/new","params":{"cwd":"/x"}}"#,
    r#"agent {"id":0,"result":{"sessionId":"recorded-session"}}"#,
    r#"client {"id":1,"method":"session/prompt","params":{"sessionId":"recorded-session"}}"#,
    r#"agent {"id":7,"method":"fs/read_text_file","params":{"sessionId":"recorded-session","path":"/a"}}"#,
    r#"client {"id":7,"result":{"content":"text"}}"#,
    r#"agent {"method":"session/update","params":{"sessionId":"recorded-session","update":{"toolCallId":"t1"}}}"#,
    r#"agent {"id":1,"result":{"stopReason":"end_turn"}}"#,
];

#[test]
fn played_client_sends_the_ids_of_the_live_agent() {
    let mut replay = new(&recording(SESSION), Side::Client);
    assert_eq!(sent(&mut replay), r#"{"id":0,"method":"session/new","params":{"cwd":"/x"}}"#);
    assert_eq!(replay.next_action(), Action::Wait);
    assert!(replay.receive(&json(r#"{"id":0,"result":{"sessionId":"live"}}"#)).is_empty());
    assert_eq!(sent(&mut replay), r#"{"id":1,"method":"session/prompt","params":{"sessionId":"live"}}"#);
    let read = r#"{"id":"other","method":"fs/read_text_file","params":{"sessionId":"live","path":"/a"}}"#;
    assert!(replay.receive(&json(read)).is_empty());
    assert_eq!(sent(&mut replay), r#"{"id":"other","result":{"content":"text"}}"#);
    // The notification and the response to another request may change places.
    replay.receive(&json(r#"{"id":1,"result":{"stopReason":"end_turn"}}"#));
    let update = r#"{"method":"session/update","params":{"sessionId":"live","update":{"toolCallId":"t9"}}}"#;
    replay.receive(&json(update));
    assert_eq!(replay.next_action(), Action::Done);
    assert_eq!(shown(&replay), [""; 0]);
}

#[test]
fn played_agent_answers_the_ids_of_the_live_client() {
    let mut replay = new(&recording(SESSION), Side::Agent);
    assert_eq!(replay.next_action(), Action::Wait);
    replay.receive(&json(r#"{"id":"a","method":"session/new","params":{"cwd":"/y"}}"#));
    assert_eq!(sent(&mut replay), r#"{"id":"a","result":{"sessionId":"recorded-session"}}"#);
    replay.receive(&json(r#"{"id":"b","method":"session/prompt","params":{"sessionId":"wrong"}}"#));
    let Action::Send(request) = replay.next_action() else { panic!() };
    assert_eq!((request.in_reply_to.as_deref(), request.answers), (Some("\"b\""), None));
    let differences = shown(&replay);
    assert_eq!(differences.len(), 1, "{differences:?}");
    assert_eq!(differences[0], r#"event 1: session/new /params/cwd: recorded "/x", seen "/y""#);
}

#[test]
fn messages_that_are_missing_unexpected_or_late_are_differences() {
    let lines = &[
        r#"client {"id":1,"method":"a"}"#,
        r#"server {"method":"n","params":{"step":1}}"#,
        r#"server {"method":"n","params":{"step":2}}"#,
        r#"server {"id":1,"result":{}}"#,
        r#"client {"id":2,"method":"b"}"#,
        r#"server {"id":2,"result":{}}"#,
    ];
    let mut replay = new(&recording(lines), Side::Client);
    sent(&mut replay);
    replay.receive(&json(r#"{"method":"n","params":{"step":2}}"#));
    replay.receive(&json(r#"{"method":"n","params":{"step":1}}"#));
    let answers = replay.receive(&json(r#"[{"id":"x\"","method":"ping"},{"method":"m"}]"#));
    assert_eq!(answers.len(), 1);
    assert!(
        answers[0].text.starts_with(r#"{"jsonrpc":"2.0","id":"x\"","error":{"code":-32601,"#),
        "{answers:?}"
    );
    assert_eq!(replay.next_action(), Action::Wait);
    assert!(replay.give_up());
    assert_eq!(sent(&mut replay), r#"{"id":2,"method":"b"}"#);
    replay.receive_failure("2", "HTTP 500");
    assert_eq!(replay.next_action(), Action::Done);
    let kinds: Vec<_> =
        replay.differences().0.iter().map(|difference| (difference.kind, difference.event)).collect();
    use DifferenceKind::*;
    assert_eq!(
        kinds,
        [(Order, Some(2)), (Unexpected, None), (Unexpected, None), (Missing, Some(4)), (Changed, Some(6))]
    );
}

#[test]
fn masks_match_any_value_which_is_sent_back() {
    let lines = &[
        r#"client {"id":1,"method":"session/new","params":{"cwd":"«home»/project"}}"#,
        r#"agent {"id":1,"result":{"key":"«secret 1»","path":"«home»/x"}}"#,
        r#"client {"method":"use","params":{"key":"«secret 1»"}}"#,
    ];
    let masks = vec![("«home»".to_owned(), "/home/me".to_owned())];
    let mut replay = Replay::new(&recording(lines), Side::Client, &[], masks);
    assert!(sent(&mut replay).contains(r#""cwd":"/home/me/project""#));
    replay.receive(&json(r#"{"id":1,"result":{"key":"live-key","path":"/elsewhere/x"}}"#));
    assert_eq!(shown(&replay), [""; 0]);
    assert_eq!(sent(&mut replay), r#"{"method":"use","params":{"key":"live-key"}}"#);
}

#[test]
fn progress_tokens_of_the_live_client_are_used() {
    let lines = &[
        r#"client {"id":1,"method":"tools/call","params":{"_meta":{"progressToken":5}}}"#,
        r#"server {"method":"notifications/progress","params":{"progressToken":5,"progress":5}}"#,
        r#"client {"method":"notifications/cancelled","params":{"requestId":1}}"#,
    ];
    let mut replay = new(&recording(lines), Side::Server);
    replay.receive(&json(r#"{"id":9,"method":"tools/call","params":{"_meta":{"progressToken":"t"}}}"#));
    let progress = r#"{"method":"notifications/progress","params":{"progressToken":"t","progress":5}}"#;
    assert_eq!(sent(&mut replay), progress);
    replay.receive(&json(r#"{"method":"notifications/cancelled","params":{"requestId":9}}"#));
    assert_eq!((replay.next_action(), shown(&replay)), (Action::Done, vec![]));
}

#[test]
fn both_sides_are_played_over_a_transport() {
    let lines: Vec<_> = SESSION.iter().map(|line| line.replacen('{', "{\"jsonrpc\":\"2.0\",", 1)).collect();
    let recording = recording(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let (client, agent) = duplex(8);
    let (mut one, mut other) = (new(&recording, Side::Client), new(&recording, Side::Agent));
    let config = ReplayConfig::new();
    let never = |_| pending::<()>();
    let (client, agent) = block_on(join(
        super::replay(PacketWire::new(client), &mut one, Side::Client, config, never),
        super::replay(PacketWire::new(agent), &mut other, Side::Agent, config, never),
    ));
    assert!(client.is_ok() && agent.is_ok());
    assert_eq!((shown(&one), shown(&other)), (vec![], vec![]));
}

#[test]
fn messages_of_a_silent_or_closed_side_are_missing() {
    let recording = recording(SESSION);
    for closes in [false, true] {
        let (client, mut agent) = duplex(8);
        let mut replay = new(&recording, Side::Client);
        let live = async move {
            let _first = agent.next().await;
            agent.send(Packet::from_json("nonsense")).await.unwrap();
            if closes {
                drop(agent);
            } else {
                pending::<()>().await;
            }
        };
        let sleep = |time: std::time::Duration| async move {
            if time.is_zero() { pending().await } else { ready(()).await }
        };
        let driving =
            super::replay(PacketWire::new(client), &mut replay, Side::Client, ReplayConfig::new(), sleep);
        block_on(futures::future::select(std::pin::pin!(driving), std::pin::pin!(live)));
        let missing =
            replay.differences().0.iter().filter(|each| each.kind == DifferenceKind::Missing).count();
        assert!(missing >= 1, "{:?}", shown(&replay));
    }
}

#[test]
fn pauses_are_those_of_the_recording() {
    let text = r#"{"at":0,"from":"client","message":{"method":"a"}}
{"at":250.5,"from":"client","message":{"method":"b"}}"#;
    let mut replay = new(&Recording::read(text.as_bytes()).unwrap(), Side::Client);
    let mut pauses = Vec::new();
    while let Action::Send(outgoing) = replay.next_action() {
        pauses.push(outgoing.pause.as_micros());
    }
    assert_eq!(pauses, [0, 250_500]);
}

/// A timer that fires at its 20th poll.
fn polls(_: std::time::Duration) -> impl Future<Output = ()> {
    let mut count = 0;
    poll_fn(move |cx| {
        count += 1;
        cx.waker().wake_by_ref();
        if count < 20 { Poll::Pending } else { Poll::Ready(()) }
    })
}

#[test]
fn endless_unrecorded_messages_do_not_prolong_a_replay() {
    let text = r#"{"from":"client","message":{"method":"a"}}
{"from":"server","message":{"method":"b"}}"#;
    for recorded in [text, text.lines().next().unwrap()] {
        let mut replay = new(&Recording::read(recorded.as_bytes()).unwrap(), Side::Client);
        let line = || Ok::<_, std::io::Error>(b"{\"method\":\"noise\"}\n".to_vec());
        let wire = LineWire::new(stream::repeat_with(line).into_async_read(), Vec::new());
        block_on(super::replay(wire, &mut replay, Side::Client, ReplayConfig::new(), polls)).unwrap();
        let kinds: Vec<_> = replay.differences().0.iter().map(|difference| difference.kind).collect();
        assert!(kinds.contains(&DifferenceKind::Unexpected), "{kinds:?}");
        assert_eq!(kinds.contains(&DifferenceKind::Missing), recorded == text, "{kinds:?}");
    }
}

#[test]
fn lines_that_are_not_messages_are_sent_unchanged() {
    let text = r#"{"from":"client","text":"no \u001b json"}
{"from":"client","message":{"method":"a"}}
{"from":"server","message":{"method":"b"}}"#;
    let mut replay = new(&Recording::read(text.as_bytes()).unwrap(), Side::Client);
    let bytes = b"\n{\"method\":\"b\"}\n\xff\n\x1b[2J\n".to_vec();
    let input = stream::iter([Ok::<_, std::io::Error>(bytes)]).chain(stream::pending()).into_async_read();
    let mut output = Vec::new();
    let wire = LineWire::new(input, &mut output);
    let config = ReplayConfig::new();
    block_on(super::replay(wire, &mut replay, Side::Client, config, polls)).unwrap();
    assert_eq!(String::from_utf8(output).unwrap(), "no \u{1b} json\n{\"method\":\"a\"}\n");
    let differences = shown(&replay);
    assert_eq!(differences.len(), 2, "{differences:?}");
    assert!(
        differences.iter().all(|line| line.starts_with("a message is not recorded: seen ")),
        "{differences:?}"
    );
}
