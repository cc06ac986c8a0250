//! Whatever the two ends say, and whenever, arrives as it was said.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use agentwire_acp_proxy::{ErrorObject, Notification, RawJson, Request};
use agentwire_jsonrpc::{Frame, Message, RequestId, Response};
use agentwire_transport::{Packet, TransportError, duplex};
use futures::{Sink, SinkExt, StreamExt, join};
use proptest::prelude::*;
use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::chains::{AnyTransport, Link, chain};
use crate::raw::play;

/// The messages of one end.
#[derive(Clone, Debug)]
enum Say {
    Notification,
    Request(Answered),
    /// A request, and then, after so many other things, its cancel.
    Cancelled(usize),
    /// Others of the task go on.
    Nothing(usize),
}

/// When the other end answers.
#[derive(Clone, Copy, Debug)]
enum Answered {
    AtOnce,
    /// After it has received so many more, or everything.
    After(usize),
}

/// A sent or received message, with the ids of requests replaced by names.
#[derive(Clone, Debug, PartialEq)]
enum Line {
    Notification(String),
    Request(String),
    Answer(String, Result<String, i64>),
    Cancel(String),
}

fn says() -> impl Strategy<Value = Vec<Say>> {
    let say = prop_oneof![
        4 => Just(Say::Notification),
        2 => Just(Say::Request(Answered::AtOnce)),
        2 => (0..8_usize).prop_map(|count| Say::Request(Answered::After(count))),
        2 => (0..6_usize).prop_map(Say::Cancelled),
        2 => (1..4_usize).prop_map(Say::Nothing),
    ];
    prop::collection::vec(say, 0..40)
}

fn links() -> impl Strategy<Value = Vec<Link>> {
    let link =
        prop_oneof![Just(Link::Here), Just(Link::Watching), Just(Link::Component), Just(Link::Components)];
    prop::collection::vec(link, 0..=3)
}

/// One end, and its sent and received messages.
#[derive(Default)]
struct Notes {
    said: Vec<Line>,
    heard: Vec<Line>,
    /// The names of the requests that it made, and that it was asked.
    made: HashMap<String, String>,
    asked: HashMap<String, String>,
    /// Answers that are due when so many messages have been received.
    due: Vec<(usize, RequestId)>,
    /// Those of them that wait for a cancel.
    held: Vec<RequestId>,
    open: usize,
    /// Whether it has sent all of its own messages.
    done: bool,
}

fn raw(text: String) -> RawJson {
    RawJson::parse(text.into()).expect("JSON")
}

/// Sends everything, answers everything, and reads until the other end has done so as well.
async fn end(name: &str, transport: AnyTransport, says: Vec<Say>, both_done: Rc<RefCell<usize>>) -> Notes {
    let (mut sink, mut stream) = transport.split();
    let notes = RefCell::new(Notes::default());
    let speaking = async {
        let mut cancels: Vec<(usize, String, String)> = Vec::new();
        for (index, say) in says.iter().enumerate() {
            let tag = format!(r#"{{"n":"{name}{index}","f": {index}.50e0}}"#);
            let id = format!("{name}{index}");
            let packet = match say {
                Say::Nothing(count) => {
                    for _ in 0..*count {
                        yield_now().await;
                    }
                    None
                }
                Say::Notification => {
                    notes.borrow_mut().said.push(Line::Notification(tag.clone()));
                    Some(Message::from(Notification::new("n", Some(raw(tag)))))
                }
                Say::Request(_) | Say::Cancelled(_) => {
                    let method = match say {
                        Say::Request(Answered::AtOnce) => "at_once".to_owned(),
                        Say::Request(Answered::After(count)) => format!("after {count}"),
                        Say::Cancelled(count) => {
                            cancels.push((index + count, id.clone(), tag.clone()));
                            "held".to_owned()
                        }
                        _ => continue,
                    };
                    let mut notes = notes.borrow_mut();
                    notes.said.push(Line::Request(tag.clone()));
                    notes.made.insert(RequestId::from(&*id).to_string(), tag.clone());
                    notes.open += 1;
                    Some(Request::new(&*id, method, Some(raw(tag))).into())
                }
            };
            if let Some(message) = packet {
                sink.send(message.into()).await.expect("it is open");
            }
            let last = index + 1 == says.len();
            let due: Vec<_> = cancels.extract_if(.., |(at, ..)| *at <= index || last).collect();
            for (_, id, tag) in due {
                notes.borrow_mut().said.push(Line::Cancel(tag));
                let params = raw(format!(r#"{{"requestId":"{id}"}}"#));
                let cancel = Message::from(Notification::new("$/cancel_request", Some(params)));
                sink.send(cancel.into()).await.expect("it is open");
            }
            answer_due(&notes, &mut sink).await;
        }
        notes.borrow_mut().done = true;
        let mut counted = false;
        loop {
            answer_due(&notes, &mut sink).await;
            let settled = notes.borrow().open == 0;
            if settled && !counted {
                counted = true;
                *both_done.borrow_mut() += 1;
            }
            if *both_done.borrow() == 2 && notes.borrow().due.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // What is on its way has arrived by then.
        tokio::time::sleep(Duration::from_secs(1)).await;
        sink.close().await.expect("it closes");
    };
    let hearing = async {
        while let Some(packet) = stream.next().await {
            let Ok(Packet::Frame { frame: Frame::Single(message), .. }) = packet else {
                panic!("{packet:?}")
            };
            hear(&mut notes.borrow_mut(), message);
        }
    };
    join!(speaking, hearing);
    notes.into_inner()
}

fn hear(notes: &mut Notes, message: Message) {
    let text = |params: Option<RawJson>| params.expect("params").as_str().to_owned();
    let line = match message {
        Message::Notification(note) if note.method == "$/cancel_request" => {
            let params: Value = note.params.expect("params").decode().expect("JSON");
            let id = params["requestId"].to_string();
            let tag = notes.asked.get(&id).expect("a request").clone();
            if let Some(at) = notes.held.iter().position(|held| held.to_string() == id) {
                let id = notes.held.remove(at);
                notes.due.push((0, id));
            }
            Line::Cancel(tag)
        }
        Message::Notification(note) => Line::Notification(text(note.params)),
        Message::Request(request) => {
            let tag = text(request.params);
            notes.asked.insert(request.id.to_string(), tag.clone());
            match &*request.method {
                "held" => notes.held.push(request.id),
                "at_once" => notes.due.push((0, request.id)),
                method => {
                    let count: usize =
                        method.strip_prefix("after ").expect("a count").parse().expect("a number");
                    notes.due.push((notes.heard.len() + count, request.id));
                }
            }
            Line::Request(tag)
        }
        Message::Response(Response { id, outcome, .. }) => {
            notes.open -= 1;
            let tag = notes.made[&id.to_string()].clone();
            let outcome = outcome.map(|result| result.as_str().to_owned()).map_err(|error| error.code);
            Line::Answer(tag, outcome)
        }
    };
    notes.heard.push(line);
}

/// Gives the answers that are due, every other one an error.
async fn answer_due(notes: &RefCell<Notes>, sink: &mut (impl Sink<Packet, Error = TransportError> + Unpin)) {
    loop {
        let answer = {
            let mut notes = notes.borrow_mut();
            let (heard, done) = (notes.heard.len(), notes.done);
            let Some(at) = notes.due.iter().position(|(at, _)| *at <= heard || done) else { return };
            let (_, id) = notes.due.remove(at);
            let tag = notes.asked[&id.to_string()].clone();
            let outcome = if notes.said.len().is_multiple_of(2) {
                Ok(raw(format!("[ {tag} ,\t1.0]")))
            } else {
                Err(ErrorObject::new(-7, "no"))
            };
            let line = outcome.as_ref().map(|result| result.as_str().to_owned()).map_err(|error| error.code);
            notes.said.push(Line::Answer(tag, line));
            Message::from(Response::new(id, outcome))
        };
        sink.send(answer.into()).await.expect("it is open");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn px_03_everything_arrives_in_order_and_byte_for_byte(
        links in links(),
        capacity in 0..3_usize,
        client in says(),
        agent in says(),
    ) {
        let (near, far) = duplex(capacity);
        play(async {
            let both_done = Rc::new(RefCell::new(0));
            let near = chain(&links, capacity, Box::new(near));
            let ends = async {
                join!(end("c", near, client, both_done.clone()), end("a", Box::new(far), agent, both_done.clone()))
            };
            let (client, agent) = timeout(Duration::from_secs(60), ends).await.expect("nothing hangs");
            assert_eq!(agent.heard, client.said, "to the agent, through {links:?}");
            assert_eq!(client.heard, agent.said, "to the client, through {links:?}");
        });
    }
}
