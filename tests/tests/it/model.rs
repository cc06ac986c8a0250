//! An endpoint for chat completions in the form of OpenAI's API, whose answers a test has written.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use agentwire_test_support::http::{self, Message};
use serde_json::{Value, json};

use crate::program::SOON;

/// The endpoint's response to a request.
pub(crate) enum Answer {
    /// A stream of these events, to its end.
    Stream(Vec<Value>),
    /// A stream of these events that goes on and sends nothing more.
    Hang(Vec<Value>),
    /// A stream of these events whose connection breaks.
    Broken(Vec<Value>),
    /// A status line, headers and a body.
    Refusal(&'static str, String),
}

/// An endpoint, which answers one request after the other.
pub(crate) struct Model {
    pub(crate) base: String,
    requests: Receiver<Request>,
    closed: Receiver<()>,
}

/// A request that the endpoint got.
pub(crate) struct Request {
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
    /// The same as it came.
    pub(crate) text: String,
}

impl Model {
    /// An endpoint with an answer for each request that comes.
    pub(crate) fn answering(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let base = format!("http://{}/v1", listener.local_addr().expect("it listens"));
        let ((request, requests), (close, closed)) = (channel(), channel());
        // It ends with the test.
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().expect("it listens");
                let _ = request.send(read(&stream));
                let hangs = matches!(answer, Answer::Hang(_));
                write(&mut stream, answer);
                if hangs {
                    let _gone = stream.read(&mut [0]);
                    let _ = close.send(());
                }
            }
        });
        Self { base, requests, closed }
    }

    /// Waits for the next request.
    pub(crate) fn request(&self) -> Request {
        self.requests.recv_timeout(SOON).expect("the agent asks")
    }

    /// Waits until the agent has closed the connection of an answer that hangs.
    pub(crate) fn is_given_up(&self) {
        self.closed.recv_timeout(SOON).expect("the agent closes it");
    }
}

/// Events with these pieces of text, and the end.
pub(crate) fn text_events(pieces: &[&str]) -> Vec<Value> {
    let event = |piece: &&str| json!({ "choices": [{ "index": 0, "delta": { "content": piece }, "finish_reason": null }] });
    let mut events: Vec<_> = pieces.iter().map(event).collect();
    events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }));
    events
}

/// Events that call a tool, the arguments in two pieces, and the end.
pub(crate) fn calls(name: &str, arguments: &str) -> Vec<Value> {
    let (first, second) = arguments.split_at(arguments.len() / 2);
    let event = |call: Value| json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] }, "finish_reason": null }] });
    vec![
        event(
            json!({ "index": 0, "id": "c1", "type": "function", "function": { "name": name, "arguments": "" } }),
        ),
        event(json!({ "index": 0, "function": { "arguments": first } })),
        event(json!({ "index": 0, "function": { "arguments": second } })),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
    ]
}

fn read(stream: &TcpStream) -> Request {
    let request = Message::request(&mut BufReader::new(stream));
    let request = request.expect("it is a request").expect("the agent asks");
    let head = String::from_utf8_lossy(&request.bytes[..request.bytes.len() - request.body.len()]);
    let body = serde_json::from_slice(&request.body).expect("it is JSON");
    Request { head: head.to_lowercase(), body, text: String::from_utf8(request.body).expect("it is text") }
}

fn write(stream: &mut TcpStream, answer: Answer) {
    let (events, is_whole) = match answer {
        Answer::Refusal(head, body) => {
            let _ = stream.write_all(&http::response(head, body));
            return;
        }
        Answer::Stream(events) => (events, true),
        Answer::Hang(events) | Answer::Broken(events) => (events, false),
    };
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
    let _ = write!(stream, "{head}\r\n\r\n");
    let end = is_whole.then(|| "[DONE]".to_owned());
    for data in events.iter().map(Value::to_string).chain(end) {
        let event = format!("data: {data}\n\n");
        let _ = write!(stream, "{:x}\r\n{event}\r\n", event.len());
    }
    if is_whole {
        let _ = stream.write_all(b"0\r\n\r\n");
    }
}
