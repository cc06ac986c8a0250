//! The reports of a connection to an observer.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Notification, Response, WithCauses};
use agentwire_peer::observe::{
    CallEnd, CallObserver, CallStart, ConnectionEnd, Direction, Observer, Outcome,
};
use agentwire_peer::runtime::{PeerExt, ResponsePolicy, set_revision};
use agentwire_peer::{CallError, Config};
use agentwire_transport::Packet;
use serde_json::{Value, json};

use crate::support::{
    HOUR, acp, answering, ask, asked, deaf, done, driver, give_way, mcp, note, on, settle, wire, with_wire,
    within,
};

/// Writes down a line for each event, but for frames, the queue and scopes.
struct Recorder {
    lines: Mutex<Vec<String>>,
    frames: Mutex<[Vec<usize>; 2]>,
    queue: Mutex<Vec<usize>>,
    scopes: AtomicUsize,
    /// Whether to panic after a line.
    panics: fn(&str) -> bool,
}

impl Recorder {
    fn new(panics: fn(&str) -> bool) -> Self {
        let (lines, frames, queue) = Default::default();
        Self { lines, frames, queue, scopes: AtomicUsize::new(0), panics }
    }

    fn write(&self, line: String) {
        let panics = (self.panics)(&line);
        self.lines.lock().unwrap().push(line);
        assert!(!panics, "as asked");
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

/// A recorder of a connection, and of a call on it.
#[derive(Clone)]
struct Recording(Arc<Recorder>);

impl Observer for Recording {
    fn connection_started(&self) -> Option<Arc<dyn Observer>> {
        self.0.write("began".into());
        None
    }

    fn connection_ended(&self, end: &ConnectionEnd<'_>) {
        let error = end.error.map_or("well".into(), |error| WithCauses::new(error).to_string());
        self.0.write(format!("ended {error} after {:?}", end.duration));
    }

    fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
        let meta = call.meta().map_or(String::new(), |meta| format!(" {meta}"));
        self.0.write(format!("{:?} {} {}{meta}", call.direction, call.id, call.method));
        Some(Arc::new(self.clone()))
    }

    fn notification(&self, direction: Direction, notification: &Notification) {
        self.0.write(format!("{direction:?} {}", notification.method));
    }

    fn frame(&self, direction: Direction, bytes: usize) {
        self.0.frames.lock().unwrap()[usize::from(direction == Direction::Out)].push(bytes);
    }

    fn queue(&self, bytes: usize) {
        self.0.queue.lock().unwrap().push(bytes);
    }

    fn malformed(&self, error: &ErrorObject) {
        self.0.write(format!("malformed {}", error.code));
    }

    fn unmatched_response(&self, response: &Response) {
        self.0.write(format!("unmatched {}", response.id));
    }
}

impl CallObserver for Recording {
    fn cancelled(&self) {
        self.0.write("cancelled".into());
    }

    fn ended(&self, end: &CallEnd<'_>) {
        let outcome = match end.outcome {
            Outcome::Result(result) => result.to_string(),
            outcome => outcome.error_type().unwrap().into_owned(),
        };
        let revision = end.revision.map_or(String::new(), |revision| format!(" in {revision}"));
        let (direction, id, method, duration) = (end.direction, end.id, end.method, end.duration);
        self.0.write(format!("{direction:?} {id} {method}: {outcome} after {duration:?}{revision}"));
    }

    fn in_scope(&self, poll: &mut dyn FnMut()) {
        poll();
        self.0.scopes.fetch_add(1, Ordering::Relaxed);
        assert!(!(self.0.panics)("scope"), "as asked");
    }
}

fn recorded(config: Config) -> (Arc<Recorder>, Config) {
    recorded_by(Recorder::new(|_| false), config)
}

fn recorded_by(recorder: Recorder, config: Config) -> (Arc<Recorder>, Config) {
    let recorder = Arc::new(recorder);
    (recorder.clone(), config.observer(Arc::new(Recording(recorder))))
}

fn request(id: impl Into<Value>, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "ask", "params": {"text": text, "_meta": {"traceparent": "00"}}})
}

async fn second() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn calls_and_notifications_are_reported_in_order() {
    let (recorder, config) = recorded(mcp());
    let handler = on(
        async |request, context: agentwire_peer::RequestContext| {
            context.peer().notify(&note(1)).await.unwrap();
            second().await;
            match &*asked(&request) {
                "bad" => Err(ErrorObject::new(-7, "no")),
                text => done(text),
            }
        },
        |_, _| {},
    );
    with_wire(config, handler, async |peer, mut far| {
        assert_eq!(recorder.lines(), ["began"]);
        far.say(request("a", "good"));
        far.say(json!({"jsonrpc": "2.0", "method": "note", "params": {"number": 1}}));
        settle().await;
        let begin = r#"In "a" ask {"traceparent":"00"}"#;
        assert_eq!(recorder.lines(), [begin, "In note", "Out note"]);
        assert!(recorder.scopes.load(Ordering::Relaxed) > 0, "the handler runs in the scope of the call");
        set_revision(&peer, "r1");
        second().await;
        assert_eq!(recorder.lines(), [r#"In "a" ask: "good" after 1s in r1"#]);
        far.say(request(2, "bad"));
        second().await;
        settle().await;
        let lines = recorder.lines();
        assert_eq!(lines.last().unwrap(), "In 2 ask: -7 after 1s in r1");

        let call = peer.call(&ask("x"));
        let script = async {
            while far.heard().await["method"] != "ask" {}
            second().await;
            far.say(json!({"jsonrpc": "2.0", "id": 1, "result": 5}));
        };
        let (answer, ()) = tokio::join!(call, script);
        assert_eq!(answer.unwrap(), 5);
        let lines = recorder.lines();
        assert_eq!(lines[0], "Out 1 ask");
        assert!(lines[1].starts_with("Out 1 ask: 5 after 1"), "{lines:?}");
    })
    .await;
    let lines = recorder.lines();
    assert!(matches!(&*lines, [end] if end.starts_with("ended well after 3.")), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn bytes_and_the_queue_are_reported() {
    let (recorder, config) = recorded(mcp());
    with_wire(config, answering(async |_, _| done("x".repeat(1000))), async |_, mut far| {
        far.take(0);
        far.say(request(1, &"y".repeat(500)));
        settle().await;
        assert!(matches!(**recorder.queue.lock().unwrap(), [size] if size > 1000));
        far.take_all();
        far.heard().await;
        settle().await;
        assert_eq!(recorder.queue.lock().unwrap().last(), Some(&0));
        let frames = recorder.frames.lock().unwrap();
        let [received, sent] = &*frames;
        assert!(matches!(**received, [size] if (500..700).contains(&size)), "{received:?}");
        assert!(matches!(**sent, [size] if (1000..1200).contains(&size)), "{sent:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn cancelled_calls_end_as_the_protocol_says() {
    for (config, method, ends_at_once) in
        [(mcp(), "notifications/cancelled", true), (acp(), "$/cancel_request", false)]
    {
        let (recorder, config) = recorded(config);
        let handler = answering(async |_, _| {
            second().await;
            done(1)
        });
        with_wire(config, handler, async |peer, mut far| {
            recorder.lines();
            far.say(json!({"jsonrpc": "2.0", "id": 7, "method": "ask", "params": {"text": ""}}));
            settle().await;
            far.say(json!({"jsonrpc": "2.0", "method": method, "params": {"requestId": 7}}));
            settle().await;
            let cancel = format!("In {method}");
            let lines = recorder.lines();
            assert_eq!(lines[..3], ["In 7 ask", &*cancel, "cancelled"]);
            assert_eq!(lines.len(), if ends_at_once { 4 } else { 3 }, "{lines:?}");
            second().await;
            let lines = [lines, recorder.lines()].concat();
            let ends: Vec<_> = lines.iter().filter(|line| line.contains(':')).collect();
            let [end] = &*ends else { panic!("{lines:?}") };
            let outcome = if ends_at_once { "In 7 ask: cancelled" } else { "In 7 ask: 1 after" };
            assert!(end.starts_with(outcome), "{end}");

            let mut call = peer.call(&ask(""));
            assert!(futures::poll!(&mut call).is_pending());
            while far.heard().await["method"] != "ask" {}
            drop(call);
            settle().await;
            let cancel = format!("Out {method}");
            let lines = recorder.lines();
            assert_eq!(lines[..3], ["Out 1 ask", &*cancel, "cancelled"]);
            assert!(lines[3].starts_with("Out 1 ask: cancelled"), "{lines:?}");
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_sender_that_left_cancels() {
    let (recorder, config) = recorded(acp());
    with_wire(config, answering(async |_, _| std::future::pending().await), async |_, far| {
        recorder.lines();
        far.say(json!({"jsonrpc": "2.0", "id": 7, "method": "ask", "params": {"text": ""}}));
        settle().await;
        far.give(Packet::CallerLeft(7_u64.into()));
        settle().await;
        let lines = recorder.lines();
        assert_eq!(lines[1], "cancelled");
        assert!(lines[2].starts_with("In 7 ask: cancelled"), "{lines:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn calls_without_an_answer_end() {
    let (recorder, config) = recorded(mcp());
    let ((), closed) = {
        let (peer, driver) = driver(config);
        let (wire, mut far) = wire();
        let main = async {
            recorder.lines();
            let late = peer.call(&ask("late")).timeout(Duration::from_secs(1)).await;
            assert!(matches!(late, Err(CallError::TimedOut { .. })));
            let lines = recorder.lines();
            assert_eq!(lines, ["Out 1 ask", "Out 1 ask: timeout after 1s"]);
            settle().await;
            assert_eq!(recorder.lines(), ["Out notifications/cancelled"]);

            let failing = peer.call(&ask("fails"));
            let script = async {
                settle().await;
                let error = Arc::new(io::Error::from(io::ErrorKind::TimedOut).into());
                far.give(Packet::RequestFailed { id: 2_u64.into(), error });
            };
            assert!(matches!(tokio::join!(failing, script).0, Err(CallError::Failed { .. })));
            assert!(recorder.lines()[1].starts_with("Out 2 ask: transport after"));

            let open = peer.call(&ask("open"));
            let script = async {
                far.say(json!({"jsonrpc": "2.0", "id": 9, "method": "ask", "params": {"text": ""}}));
                settle().await;
                far.fail(io::ErrorKind::ConnectionReset);
            };
            assert!(matches!(tokio::join!(open, script).0, Err(CallError::Closed(_))));
        };
        let handler = answering(async |_, _| std::future::pending().await);
        within(HOUR, driver.run(handler, wire, main)).await
    };
    assert!(closed.reason.is_some());
    let mut lines = recorder.lines();
    let end = lines.pop().unwrap();
    assert!(end.starts_with("ended ") && end.contains("connection reset"), "{end}");
    let ended = |what: &str| lines.iter().filter(|line| line.starts_with(what)).count();
    assert_eq!(ended("Out 3 ask: closed"), 1, "{lines:?}");
    assert_eq!(ended("In 9 ask: -32603"), 1, "the handler was dropped and answered: {lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_is_dropped_ends_its_calls() {
    let (recorder, config) = recorded(mcp());
    let (_peer, driver) = driver(config);
    let (wire, far) = wire();
    far.say(json!({"jsonrpc": "2.0", "id": 9, "method": "ask", "params": {"text": ""}}));
    let mut serving = Box::pin(driver.serve(answering(async |_, _| std::future::pending().await), wire));
    assert!(futures::poll!(&mut serving).is_pending());
    drop(serving);
    let lines = recorder.lines();
    assert_eq!(lines[..2], ["began", "In 9 ask"]);
    let [.., call, connection] = &*lines else { panic!("{lines:?}") };
    assert!(call.starts_with("In 9 ask: closed") && connection.starts_with("ended well"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn input_that_cannot_be_read_is_reported_once() {
    let (recorder, config) = recorded(mcp());
    with_wire(config, deaf(), async |peer, far| {
        recorder.lines();
        let cases = [
            (r"nonsense", "malformed -32700"),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "malformed -32600"),
            (r#"{"jsonrpc":"2.0","method":5}"#, "malformed -32600"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ask"}]"#, "malformed -32600"),
            (r#"{"jsonrpc":"2.0","id":"strange","result":1}"#, r#"unmatched "strange""#),
        ];
        for (text, line) in cases {
            far.give(Packet::from_json(text));
            settle().await;
            assert_eq!(recorder.lines(), [line], "{text}");
        }
        peer.set_batches(true);
        far.give(Packet::from_json(r#"[{"jsonrpc":"2.0","id":1,"method":5},7]"#));
        settle().await;
        assert_eq!(recorder.lines(), ["malformed -32600", "malformed -32600"]);

        let call = peer.call(&ask(""));
        let script = async {
            settle().await;
            far.give(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":2}"#));
        };
        assert!(tokio::join!(call, script).0.is_err());
        let lines = recorder.lines();
        assert_eq!(lines[..2], ["Out 1 ask", "malformed -32600"]);
        assert!(lines[2].starts_with("Out 1 ask: malformed"), "{lines:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn input_that_gets_no_response_is_reported_once_and_leaves_no_call_open() {
    let (recorder, config) = recorded(mcp());
    with_wire(config, deaf(), async |peer, mut far| {
        peer.set_responses(ResponsePolicy::None);
        recorder.lines();
        for text in [
            r"nonsense",
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ask"}"#,
        ] {
            far.give(Packet::from_json(text));
            settle().await;
            let lines = recorder.lines();
            assert!(matches!(&*lines, [line] if line.starts_with("malformed ")), "{text}: {lines:?}");
        }
        assert_eq!(far.heard_so_far(), [Value::Null; 0]);
    })
    .await;
    let lines = recorder.lines();
    assert!(matches!(&*lines, [end] if end.starts_with("ended well")), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn calls_under_one_id_each_end_once() {
    let (recorder, config) = recorded(mcp());
    let handler = answering(async |_, _| {
        second().await;
        done(1)
    });
    with_wire(config, handler, async |_, far| {
        far.say(request(7, ""));
        far.say(request(7, ""));
        settle().await;
        second().await;
        settle().await;
        let lines = recorder.lines();
        let ends: Vec<_> = lines.iter().filter(|line| line.starts_with("In 7 ask:")).collect();
        assert_eq!(ends, ["In 7 ask: -32600 after 0ns", "In 7 ask: 1 after 1s"], "{lines:?}");
    })
    .await;
}

/// The first observer panics at each line, so that it observes no call; the second at all lines but the begin of a call.
#[tokio::test(start_paused = true)]
async fn a_panic_in_an_observer_changes_nothing() {
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref() != Some(&"as asked") {
            eprintln!("{info}");
        }
    }));
    let script = async |config: Config| {
        let handler = answering(async |request, context: agentwire_peer::RequestContext| {
            context.peer().notify(&note(1)).await.unwrap();
            give_way().await;
            done(asked(&request))
        });
        with_wire(config, handler, async |peer, mut far| {
            far.say(request(7, "answer"));
            far.say(
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}}),
            );
            far.give(Packet::from_json("nonsense"));
            far.say(json!({"jsonrpc": "2.0", "id": "strange", "result": 1}));
            let call = peer.call(&ask("")).timeout(Duration::from_secs(1));
            assert!(matches!(call.await, Err(CallError::TimedOut { .. })));
            settle().await;
            far.heard_so_far()
        })
        .await
    };
    let plain = script(mcp()).await;
    let always = ["began", "In 7 ask", "malformed", "unmatched", "Out 1 ask", "ended well"];
    let observed = ["Out note", "In 7 ask: ", "Out 1 ask: timeout"];
    let but_begin: fn(&str) -> bool = |line| line.contains(" after ") || !line.contains(" ask");
    for (panics, expected) in [((|_| true) as fn(&str) -> bool, &[][..]), (but_begin, &observed)] {
        let (recorder, config) = recorded_by(Recorder::new(panics), mcp());
        assert_eq!(script(config).await, plain);
        let lines = recorder.lines();
        for what in always.iter().chain(expected) {
            assert!(lines.iter().any(|line| line.starts_with(what)), "{what}: {lines:?}");
        }
    }
}
