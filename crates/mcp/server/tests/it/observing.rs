//! One observer sees connections and exchanges alike.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use agentwire_jsonrpc::{Notification, RawJson, Request};
use agentwire_mcp_server::observe::{CallEnd, CallObserver, CallStart, ConnectionEnd, Direction, Observer};
use agentwire_mcp_server::{Context, MessageSource, NoArguments, Server, Service};
use agentwire_transport::{Duplex, Exchange};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::raw::{MODERN, NEWEST, alone_with, with_both_eras};

#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<String>>>);

impl Recorder {
    fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Recorder {
    fn connection_started(&self) -> Option<Arc<dyn Observer>> {
        self.write("connection");
        None
    }

    fn connection_ended(&self, end: &ConnectionEnd<'_>) {
        self.write(format!("connection ended, {:?}", end.revision));
    }

    fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
        let trace = call.meta().and_then(|meta| meta.member("traceparent"));
        let session = call.source.and_then(|source| Some(source.header("mcp-session-id")?.into_owned()));
        let session = session.map(|session| String::from_utf8(session).unwrap());
        self.write(format!("{} {:?} {trace:?} {session:?}", call.method, call.revision));
        Some(Arc::new(self.clone()))
    }

    fn notification(&self, direction: Direction, notification: &Notification) {
        self.write(format!("{direction:?} {}", notification.method));
    }

    fn frame(&self, direction: Direction, bytes: usize) {
        assert!(bytes > 0);
        self.write(format!("{direction:?} frame"));
    }
}

impl CallObserver for Recorder {
    fn cancelled(&self) {
        self.write("cancelled");
    }

    fn ended(&self, end: &CallEnd<'_>) {
        self.write(format!("{} {:?}", end.method, end.outcome.error_type()));
    }

    fn in_scope(&self, poll: &mut dyn FnMut()) {
        self.write("{");
        poll();
        self.write("}");
    }
}

/// The source of modern requests.
#[derive(Debug)]
struct Head;

impl MessageSource for Head {
    fn header(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        match name {
            "mcp-protocol-version" => Some(MODERN.as_bytes().into()),
            "mcp-session-id" => Some(b"s1"[..].into()),
            _ => None,
        }
    }
}

fn server(recorder: &Recorder) -> Server {
    let work = async |_: NoArguments, cx: Context| {
        cx.progress(1.0, None, None).await.unwrap();
        "done"
    };
    let wait = async |_: NoArguments, _: Context| -> String { std::future::pending().await };
    let observer = Arc::new(recorder.clone());
    Server::new("s", "1")
        .tool("work", "Works", work)
        .tool("wait", "Waits", wait)
        .connection(|config| config.observer(observer))
}

fn call(tool: &str) -> Value {
    let meta = json!({ "traceparent": "00-1", "progressToken": 5 });
    alone_with(json!({ "name": tool, "arguments": {} }), meta)
}

fn exchange(method: &'static str, params: &Value) -> (Exchange, agentwire_transport::NotificationStream) {
    let params = RawJson::encode(params).unwrap();
    Exchange::new(Request::new(1_u64, method, Some(params)), Some(Arc::new(Head)), 1 << 16)
}

#[tokio::test(start_paused = true)]
async fn an_exchange_is_observed_like_a_call_on_a_connection() {
    let recorder = Recorder::default();
    let server = server(&recorder);
    let (exchange, mut notifications) = exchange("tools/call", &call("work"));
    let response = Service::<Duplex>::exchange(&server, exchange).await;
    assert!(response.outcome.is_ok(), "{response:?}");
    assert_eq!(notifications.next().await.unwrap().method, "notifications/progress");
    let scopes = |line: &String| line != "{" && line != "}";
    let lines = recorder.lines();
    assert!(lines.iter().filter(|line| *line == "{").count() >= 2, "decided and polled in scope: {lines:?}");
    let lines: Vec<_> = lines.into_iter().filter(scopes).collect();
    let trace = r#"Some("00-1")"#;
    let expected = [
        "In frame".into(),
        format!("tools/call Some({MODERN:?}) {trace} Some(\"s1\")"),
        "Out frame".into(),
        "Out notifications/progress".into(),
        "Out frame".into(),
        "tools/call None".into(),
    ];
    assert_eq!(lines, expected);

    with_both_eras(&server, async |raw| {
        raw.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("work") })).await;
        assert_eq!(raw.next().await["method"], "notifications/progress");
        assert_eq!(raw.next().await["id"], 1);
    })
    .await;
    let lines: Vec<_> = recorder.lines().into_iter().filter(scopes).collect();
    assert_eq!(lines.first().map(String::as_str), Some("connection"));
    assert_eq!(lines.last().map(String::as_str), Some("connection ended, None"));
    let on_connection = lines[1..lines.len() - 1].to_vec();
    let no_source = format!("tools/call None {trace} None");
    assert!(on_connection.contains(&no_source), "{on_connection:?}");
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines.retain(|line| *line != no_source && *line != expected[1]);
        lines
    };
    assert_eq!(sorted(on_connection), sorted(expected.to_vec()), "the same but for the source");
}

#[tokio::test(start_paused = true)]
async fn an_exchange_whose_caller_leaves_is_cancelled() {
    let recorder = Recorder::default();
    let server = server(&recorder);
    let (exchange, _notifications) = exchange("tools/call", &call("wait"));
    let mut answer = Box::pin(Service::<Duplex>::exchange(&server, exchange));
    assert!(futures::poll!(&mut answer).is_pending());
    recorder.lines();
    drop(answer);
    assert_eq!(recorder.lines(), ["cancelled", "tools/call Some(\"cancelled\")"]);
}

#[tokio::test(start_paused = true)]
async fn the_revision_of_a_session_is_known_from_its_handshake_on() {
    let recorder = Recorder::default();
    with_both_eras(&server(&recorder), async |raw| {
        raw.greet(NEWEST).await;
        raw.result_of("ping", json!({})).await;
    })
    .await;
    let lines = recorder.lines();
    assert!(lines.contains(&format!("ping Some({NEWEST:?}) None None")), "{lines:?}");
    assert_eq!(lines.last().unwrap(), &format!("connection ended, Some({NEWEST:?})"));
}
