//! A proxy between a client and a server of ours that checks their messages against the schema.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use agentwire_schema_tests::{Conversation, Side};
use agentwire_test_support::http::Message;
use serde_json::Value;

/// A proxy for one conversation.
///
/// Every request gets a connection of its own to the server, as HTTP/1.0 has it: such a response ends where the
/// connection does, and is not cut into chunks.
pub(crate) struct Proxy {
    /// Where the client finds it.
    pub(crate) origin: String,
    log: Arc<Mutex<Log>>,
}

struct Log {
    conversation: Conversation,
    checked: usize,
    faults: Vec<String>,
    /// The head of every request, in lower case.
    heads: Vec<String>,
}

impl Proxy {
    /// A proxy before the server at that origin, such as `http://127.0.0.1:8080`.
    pub(crate) fn before(origin: &str) -> Self {
        let server = origin.strip_prefix("http://").expect("servers of tests have no TLS").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let origin = format!("http://{}", listener.local_addr().expect("it listens"));
        let log =
            Log { conversation: Conversation::mcp(), checked: 0, faults: Vec::new(), heads: Vec::new() };
        let log = Arc::new(Mutex::new(log));
        let shared = log.clone();
        // It ends with the test.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (server, log) = (server.clone(), shared.clone());
                thread::spawn(move || pass_on(&client, &server, &log));
            }
        });
        Self { origin, log }
    }

    /// The heads of all requests so far, in lower case.
    pub(crate) fn heads(&self) -> Vec<String> {
        lock(&self.log).heads.clone()
    }

    /// The number of messages so far, all of which must be valid.
    pub(crate) fn checked(&self) -> usize {
        let log = lock(&self.log);
        let faults = log.faults.join("\n");
        assert!(faults.is_empty(), "messages violate the schema: {faults}");
        log.checked
    }
}

fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    fn check(&mut self, from: Side, text: &str) {
        let valid = match serde_json::from_str::<Value>(text) {
            Ok(message) => {
                if from == Side::Client && message["id"] == 1 && message.get("method").is_some() {
                    // Ids that begin again at the first belong to a new conversation.
                    self.conversation = Conversation::mcp();
                }
                self.conversation.check(from, &message)
            }
            Err(why) => Err(why.to_string()),
        };
        self.checked += 1;
        self.faults.extend(valid.err().map(|fault| format!("{fault}\n  from the {from:?}: {text}")));
    }
}

/// Passes on one request and its response. None when one side has gone.
fn pass_on(client: &TcpStream, server: &str, log: &Mutex<Log>) -> Option<()> {
    let request = Message::request(&mut BufReader::new(client)).ok()??;
    let (head, body) = request.bytes.split_at(request.bytes.len() - request.body.len());
    let head = String::from_utf8_lossy(head);
    let mut log_now = lock(log);
    log_now.heads.push(head.to_lowercase());
    if !body.is_empty() {
        log_now.check(Side::Client, &request.text());
    }
    drop(log_now);

    let server = TcpStream::connect(server).ok()?;
    let head = head.replacen("HTTP/1.1", "HTTP/1.0", 1);
    (&server).write_all(&[head.as_bytes(), body].concat()).ok()?;
    let watched = (client.try_clone().ok()?, server.try_clone().ok()?);
    // A client that leaves a response leaves the server's too.
    thread::spawn(move || {
        let _gone = (&watched.0).read(&mut [0]);
        let _closed = watched.1.shutdown(Shutdown::Both);
    });
    pass_back(&server, client, log);
    let _closed = client.shutdown(Shutdown::Both);
    Some(())
}

/// Passes on a response as it comes, and reads the messages in it before the client does.
fn pass_back(server: &TcpStream, mut client: &TcpStream, log: &Mutex<Log>) -> Option<()> {
    let mut from_server = BufReader::new(server);
    let head = Message::head(&mut from_server).ok()??;
    client.write_all(&head.bytes).ok()?;
    let mut line = String::new();
    let content_type = head.header("content-type");
    if content_type.starts_with("text/event-stream") {
        let mut event = String::new();
        while from_server.read_line(&mut line).is_ok_and(|count| count > 0) {
            match line.trim_end().split_once(": ") {
                Some(("event", name)) => event = name.to_owned(),
                Some(("data", data)) if event != "endpoint" => lock(log).check(Side::Server, data),
                _ => {}
            }
            if line.trim_end().is_empty() {
                event.clear();
            }
            client.write_all(line.as_bytes()).ok()?;
            line.clear();
        }
    } else {
        from_server.read_to_string(&mut line).ok()?;
        if content_type.starts_with("application/json") {
            lock(log).check(Side::Server, &line);
        }
        client.write_all(line.as_bytes()).ok()?;
    }
    Some(())
}
