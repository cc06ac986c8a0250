//! Attacks of hostile servers on clients, one test for each known one. In all of them, a call comes to an
//! end in a time that is known before, and little memory is taken.
//!
//! Where nothing but time is at stake, the server is a function and the clock is virtual, so the waits are the
//! defaults.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message};
use agentwire_transport::Packet;
use agentwire_transport_http::client::{Body, BoxError, Config, Http, HttpClient, HttpError, Wait};
use agentwire_transport_http::sse::DecodeError;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, SinkExt, StreamExt, future, stream};
use http::{HeaderName, HeaderValue, Method, Request, Response};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use super::mock::{EVENTS, Mock, event, result};

/// A server that is a function.
struct Script<F>(F);

impl<F: Fn(Request<Bytes>) -> Option<Response<Body>> + Send + Sync> HttpClient for Script<F> {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        match (self.0)(request) {
            Some(response) => future::ok(response).boxed(),
            None => future::pending().boxed(),
        }
    }
}

fn open(script: impl Fn(Request<Bytes>) -> Option<Response<Body>> + Send + Sync + 'static) -> Http {
    Config::new("http://localhost/").unwrap().open_with(Script(script))
}

/// Whether that is the method of a request.
fn asks(request: &Request<Bytes>, method: &str) -> bool {
    let body = std::str::from_utf8(request.body()).unwrap();
    body.contains(&format!("\"method\":\"{method}\""))
}

fn respond(
    content_type: &str,
    pieces: impl IntoIterator<Item = String, IntoIter: Send + 'static>,
) -> Response<Body> {
    let body = stream::iter(pieces.into_iter().map(|piece| Ok(piece.into())));
    Response::builder().header("content-type", content_type).body(body.boxed()).unwrap()
}

fn endless(piece: &str) -> impl Iterator<Item = String> + Send + use<> {
    std::iter::repeat(piece.to_owned())
}

async fn call(http: &mut Http) {
    http.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#))
        .await
        .unwrap();
}

/// Begins a session; the server may answer with anything.
async fn initialize(http: &mut Http) {
    http.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#))
        .await
        .unwrap();
    assert!(matches!(http.next().await, Some(Ok(Packet::Frame { .. }))));
}

fn greeting() -> Response<Body> {
    let greeting = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}});
    let mut response = respond("application/json", [greeting.to_string()]);
    response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("s-1"));
    response
}

/// The failure of the call, and after how long.
async fn failure(http: &mut Http) -> (Duration, Arc<agentwire_transport::TransportError>) {
    let began = Instant::now();
    match http.next().await {
        Some(Ok(Packet::RequestFailed { error: fault, .. })) => (began.elapsed(), fault),
        other => panic!("no failure: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_without_an_end_is_given_up() {
    for piece in [
        "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
        "id: xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ": xxxxxxxxxxxxxxxxxxxx",
    ] {
        let pieces = piece.repeat(1000);
        let mut http = open(move |_| Some(respond("text/event-stream", endless(&pieces))));
        call(&mut http).await;
        let (_, fault) = failure(&mut http).await;
        assert!(
            matches!(HttpError::of(&fault), Some(HttpError::Stream(DecodeError::TooLong { .. }))),
            "{fault:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_json_body_without_an_end_is_given_up() {
    let mut http = open(|_| Some(respond("application/json", endless(&"[".repeat(10_000)))));
    call(&mut http).await;
    let (_, fault) = failure(&mut http).await;
    assert!(matches!(HttpError::of(&fault), Some(HttpError::TooLong { .. })), "{fault:?}");
}

/// Without an id there is nothing to go on from; with one it is tried a few times.
#[tokio::test(start_paused = true)]
async fn a_stream_cut_before_its_answer_fails_the_call() {
    for (first, most) in [(": hi\n\n", 0), ("id: 1\ndata:\n\n", 20)] {
        let mut http = open(move |request| {
            if asks(&request, "initialize") {
                return Some(greeting());
            }
            let (head, _) = respond("text/event-stream", []).into_parts();
            let piece = if request.method() == Method::POST { first } else { ": hi\n\n" };
            let pieces = [Ok(Bytes::from_static(piece.as_bytes())), Err("reset".into())];
            Some(Response::from_parts(head, stream::iter(pieces).boxed()))
        });
        initialize(&mut http).await;
        call(&mut http).await;
        let (after, fault) = failure(&mut http).await;
        assert!(matches!(HttpError::of(&fault), Some(HttpError::Broken(_))), "{fault:?}");
        assert!(after <= Duration::from_secs(most), "{after:?}");
    }
}

/// A call waits as long as its server sends signs of work. The caller ends it, and is then rid of
/// the stream at once; after the answer it goes within a second.
#[tokio::test(start_paused = true)]
async fn endless_stream_is_closed_without_unanswered_requests() {
    for answered in [false, true] {
        let alive = Arc::new(());
        let held = alive.clone();
        let mut http = open(move |_| {
            let answer = answered.then(|| event("", &result(1)));
            let held = held.clone();
            let comments = stream::unfold(held, |held| async {
                tokio::time::sleep(Duration::from_secs(60)).await;
                Some((Ok(Bytes::from_static(b":\n\n")), held))
            });
            let body = stream::iter(answer).map(|answer| Ok(answer.into())).chain(comments).boxed();
            Some(Response::builder().header("content-type", "text/event-stream").body(body).unwrap())
        });
        call(&mut http).await;
        if answered {
            assert!(matches!(http.next().await, Some(Ok(Packet::Frame { .. }))));
        } else {
            let hours = Duration::from_secs(5 * 60 * 60);
            assert!(tokio::time::timeout(hours, http.next()).await.is_err());
            http.send(Packet::CallerLeft(1_u64.into())).await.unwrap();
        }
        assert!(tokio::time::timeout(Duration::from_secs(2), http.next()).await.is_err());
        // One is here, and one in the function.
        assert_eq!(Arc::strong_count(&alive), 2);
    }
}

/// The event is there although no LF ever follows.
#[tokio::test(start_paused = true)]
async fn lines_may_end_in_cr_alone() {
    let mut http = open(|_| {
        let pieces = stream::iter([Ok(event("", &result(1)).replace('\n', "\r").into())]);
        let body = pieces.chain(stream::pending()).boxed();
        Some(Response::builder().header("content-type", "text/event-stream").body(body).unwrap())
    });
    call(&mut http).await;
    assert!(matches!(http.next().await, Some(Ok(Packet::Frame { .. }))));
}

/// Before the head of a response, in its body, in that of a refusal, and where nothing but its acceptance is waited
/// for.
#[tokio::test(start_paused = true)]
async fn silence_is_waited_for_so_long() {
    let silent = |status: u16, content_type: &'static str| {
        let body = stream::pending().boxed();
        Response::builder().status(status).header("content-type", content_type).body(body).unwrap()
    };
    let mut http = open(|_| None);
    call(&mut http).await;
    let (after, fault) = failure(&mut http).await;
    assert!(
        matches!(HttpError::of(&fault), Some(HttpError::TimedOut { wait: Wait::FirstByte, .. })),
        "{fault:?}"
    );
    assert_eq!(after.as_secs(), 300);
    http.feed(Packet::from_json(r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#)).await.unwrap();
    let began = Instant::now();
    http.flush().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 30);

    for content_type in ["application/json", "text/event-stream"] {
        let mut http = open(move |_| Some(silent(200, content_type)));
        call(&mut http).await;
        let (after, fault) = failure(&mut http).await;
        assert!(
            matches!(HttpError::of(&fault), Some(HttpError::TimedOut { wait: Wait::NextByte, .. })),
            "{fault:?}"
        );
        assert_eq!(after.as_secs(), 300);
    }

    let mut http = open(move |_| Some(silent(500, "application/json")));
    call(&mut http).await;
    let (after, fault) = failure(&mut http).await;
    assert!(matches!(HttpError::of(&fault), Some(HttpError::Refused(_))), "{fault:?}");
    assert_eq!(after.as_secs(), 5);

    let mut http = open(|request| request.body().starts_with(b"{").then(greeting));
    initialize(&mut http).await;
    let began = Instant::now();
    http.close().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 5, "the end of the session is not waited for");
}

/// A server that wants to be asked again at once, for ever.
#[tokio::test(start_paused = true)]
async fn retry_zero_makes_no_storm() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let mut http = open(move |request| {
        if asks(&request, "initialize") {
            return Some(greeting());
        }
        let number = counted.fetch_add(1, Ordering::Relaxed);
        Some(respond("text/event-stream", [format!("retry: 0\nid: {number}\ndata:\n\n")]))
    });
    initialize(&mut http).await;
    call(&mut http).await;
    assert!(tokio::time::timeout(Duration::from_secs(60), http.next()).await.is_err());
    let asked = asked.load(Ordering::Relaxed);
    assert!((20..200).contains(&asked), "asked {asked} times in a minute");
}

/// The same from a server that sends an event each time.
#[tokio::test(start_paused = true)]
async fn retry_zero_makes_no_storm_whatever_each_stream_brings() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let mut http = open(move |request| {
        if asks(&request, "initialize") {
            return Some(greeting());
        }
        let number = counted.fetch_add(1, Ordering::Relaxed);
        let news = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
        Some(respond("text/event-stream", [format!("retry: 0\nid: {number}\ndata: {news}\n\n")]))
    });
    initialize(&mut http).await;
    call(&mut http).await;
    let hearing = async { while http.next().await.is_some() {} };
    assert!(tokio::time::timeout(Duration::from_secs(60), hearing).await.is_err());
    let asked = asked.load(Ordering::Relaxed);
    assert!((100..1300).contains(&asked), "asked {asked} times in a minute, on two streams");
}

/// Neither what the user set nor the id of the session leaves the origin, whatever the method.
#[tokio::test(start_paused = true)]
async fn credentials_do_not_follow_a_redirect_to_another_origin() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = asked.clone();
    let script = Script(move |request: Request<Bytes>| {
        assert_eq!((request.uri().host(), request.uri().port_u16()), (Some("localhost"), None));
        assert_eq!(request.headers()["authorization"], "Bearer secret");
        noted.lock().unwrap().push(request.method().clone());
        if asks(&request, "initialize") {
            return Some(greeting());
        }
        let mut elsewhere = respond("text/plain", []);
        *elsewhere.status_mut() = http::StatusCode::TEMPORARY_REDIRECT;
        let location = HeaderValue::from_static("http://localhost:8080/mcp");
        elsewhere.headers_mut().insert("location", location);
        Some(elsewhere)
    });
    let config = Config::new("http://localhost/").unwrap().header("Authorization", "Bearer secret").unwrap();
    let mut http = config.open_with(script);
    initialize(&mut http).await;
    call(&mut http).await;
    let (_, fault) = failure(&mut http).await;
    assert!(matches!(HttpError::of(&fault), Some(HttpError::Redirected { .. })), "{fault:?}");
    http.close().await.unwrap();
    assert_eq!(*asked.lock().unwrap(), [Method::POST, Method::POST, Method::DELETE]);
}

/// An answer to another request is passed on, and does not end the call. One whose id is not that of any request is for the call,
/// which it fails.
#[tokio::test(start_paused = true)]
async fn answers_under_wrong_ids_are_no_answer() {
    let ids =
        [(json!(2), false), (json!("1"), true), (json!(1.5), true), (json!(null), true), (json!([1]), true)];
    for (id, is_for_the_call) in ids {
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string();
        let mut http = open(move |_| Some(respond("application/json", [answer.clone()])));
        call(&mut http).await;
        let Packet::Frame { frame, .. } = http.next().await.unwrap().unwrap() else {
            panic!("the answer: {id}")
        };
        assert_eq!(frame.answers(&1_u64.into()), is_for_the_call, "{id}");
        let next = tokio::time::timeout(Duration::from_secs(2), http.next()).await;
        match next {
            Ok(Some(Ok(Packet::RequestFailed { id: failed, .. }))) if !is_for_the_call => {
                assert_eq!(failed, 1_u64.into(), "{id}");
            }
            Err(_) if is_for_the_call => {}
            other => panic!("{id}: {other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_harms_no_later_call() {
    let answers = event("", &result(1)).repeat(3);
    let mut http = open(move |_| Some(respond("text/event-stream", [answers.clone()])));
    for _ in 0..2 {
        call(&mut http).await;
        for _ in 0..3 {
            assert!(matches!(http.next().await, Some(Ok(Packet::Frame { .. }))));
        }
        assert!(tokio::time::timeout(Duration::from_secs(2), http.next()).await.is_err());
    }
}

/// Some do, although 405 is the word for having no such stream.
#[tokio::test(start_paused = true)]
async fn a_get_answered_with_400_does_no_harm() {
    let gets = Arc::new(AtomicUsize::new(0));
    let counted = gets.clone();
    let mut http = open(move |request| {
        let is_get = request.method() == Method::GET;
        counted.fetch_add(usize::from(is_get), Ordering::Relaxed);
        let mut answer = match asks(&request, "initialize") {
            true => greeting(),
            false => respond("application/json", [result(1).to_string()]),
        };
        if is_get {
            *answer.status_mut() = http::StatusCode::BAD_REQUEST;
        }
        Some(answer)
    });
    initialize(&mut http).await;
    http.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)).await.unwrap();
    assert!(matches!(http.next().await, Some(Ok(Packet::Gap { end: Some(_) }))));
    assert!(tokio::time::timeout(Duration::from_secs(600), http.next()).await.is_err());
    call(&mut http).await;
    assert!(matches!(http.next().await, Some(Ok(Packet::Frame { .. }))));
    assert_eq!(gets.load(Ordering::Relaxed), 1);
}

/// A silent connection may be dead, so messages may be lost. The next stream brings them if the server gives ids to its events.
#[tokio::test(start_paused = true)]
async fn silent_stream_of_a_session_has_a_gap_unless_it_has_ids() {
    for (first, has_gap) in [(": hi\n\n", true), ("id: 1\ndata:\n\n", false)] {
        let gets = Arc::new(AtomicUsize::new(0));
        let counted = gets.clone();
        let mut http = open(move |request| {
            if request.method() == Method::POST {
                return Some(greeting());
            }
            counted.fetch_add(1, Ordering::Relaxed);
            let (head, _) = respond("text/event-stream", []).into_parts();
            let body = stream::iter([Ok(Bytes::from_static(first.as_bytes()))]).chain(stream::pending());
            Some(Response::from_parts(head, body.boxed()))
        });
        initialize(&mut http).await;
        http.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#))
            .await
            .unwrap();
        let heard = tokio::time::timeout(Duration::from_secs(400), http.next()).await;
        assert_eq!(matches!(heard, Ok(Some(Ok(Packet::Gap { end: None })))), has_gap, "{heard:?}");
        assert_eq!((heard.is_ok(), gets.load(Ordering::Relaxed)), (has_gap, 2));
    }
}

/// Some servers open a session for a probe of the modern revisions. That of the handshake counts, also where it
/// is none.
#[tokio::test(start_paused = true)]
async fn a_session_id_given_to_a_probe_is_forgotten() {
    for of_handshake in [Some("s-1"), None] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = seen.clone();
        let mut http = open(move |request| {
            let id = request.headers().get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
            noted.lock().unwrap().push(id);
            let (mut answer, id) = if asks(&request, "server/discover") {
                let refused = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}"#;
                (respond("application/json", [refused.into()]), Some("probe"))
            } else if asks(&request, "initialize") {
                (greeting(), of_handshake)
            } else {
                (respond("application/json", [result(1).to_string()]), Some("other"))
            };
            answer.headers_mut().remove("mcp-session-id");
            let id = id.map(|id| (HeaderName::from_static("mcp-session-id"), HeaderValue::from_static(id)));
            answer.headers_mut().extend(id);
            Some(answer)
        });
        let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        let probe = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{meta}}}"#);
        http.send(Packet::from_json(&probe)).await.unwrap();
        assert!(matches!(http.next().await, Some(Ok(Packet::Frame { .. }))));
        initialize(&mut http).await;
        call(&mut http).await;
        assert!(matches!(http.next().await, Some(Ok(Packet::Frame { .. }))));
        http.close().await.unwrap();
        let id = of_handshake.map(str::to_owned);
        let mut wanted = vec![None, None, id.clone()];
        // Where there is no session there is none to end.
        wanted.extend(id.is_some().then_some(id));
        assert_eq!(*seen.lock().unwrap(), wanted);
    }
}

/// 200,000 levels, wherever JSON is read: nothing here goes down them one call at a time.
#[tokio::test(start_paused = true)]
async fn json_may_be_nested_without_end() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let bodies = [
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{deep}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":{deep},"x-mcp-header":1,"tools":{deep}}}}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32000,"message":"no","data":{deep}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":{deep},"result":{{}}}}"#),
        deep.clone(),
        "[".repeat(200_000),
        r#"{"a":"#.repeat(200_000),
    ];
    let meta = r#"{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    for (body, method) in
        bodies.iter().flat_map(|body| ["initialize", "tools/list"].map(|method| (body, method)))
    {
        for (status, content_type) in
            [(200, "application/json"), (200, "text/event-stream"), (400, "application/json")]
        {
            let text =
                if content_type == "application/json" { body.clone() } else { format!("data: {body}\n\n") };
            let mut http = open(move |_| {
                let mut response = respond(content_type, [text.clone()]);
                *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
                Some(response)
            });
            let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{meta}}}"#);
            http.send(Packet::from_json(&request)).await.unwrap();
            match http.next().await.unwrap().unwrap() {
                Packet::Frame { frame: Frame::Single(Message::Response(response)), .. } => {
                    let decoded = response.outcome.map(|result| result.decode::<Value>().is_ok());
                    assert_ne!(decoded.ok(), Some(true), "nobody reads it as a value");
                }
                Packet::Frame { .. } | Packet::RequestFailed { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Of a head, hyper reads some hundred KiB.
#[tokio::test]
async fn a_head_without_an_end_is_given_up() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    for line in ["X-More: yes\r\n", "x"] {
        client.call(1);
        let mut socket = mock.next().await.open("HTTP/1.1 200 OK\r\n").await;
        let endless = async { while socket.write_all(line.repeat(1000).as_bytes()).await.is_ok() {} };
        let failed = client.failed(1, |error| assert!(matches!(error, HttpError::Unsent(_)), "{error:?}"));
        tokio::join!(endless, failed);
    }
}

/// All of it, with the limits that hold by default, in a process of its own.
#[cfg(target_os = "linux")]
#[test]
fn little_memory_is_taken() {
    const ALONE: &str = "AGENTWIRE_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "client::advisories::little_memory_is_taken", "--nocapture"]).env(ALONE, "1");
        let output = alone.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(be_attacked());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim();
    let peak: usize = peak.strip_suffix(" kB").unwrap().parse().unwrap();
    // The longest message is 32 MiB.
    assert!(peak < 128 << 10, "{peak} KiB");
}

#[cfg(target_os = "linux")]
async fn be_attacked() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    let gzip = |head: &str| head.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n");
    let spaces = vec![b' '; 256 << 10];
    let bomb = super::gzip::gzip(&vec![b' '; 16 << 20]);
    for (head, piece) in [
        (json.to_owned(), &spaces),
        (EVENTS.to_owned() + "data:", &spaces),
        (gzip(json), &bomb),
        (gzip(EVENTS), &bomb),
    ] {
        client.call(1);
        let mut socket = mock.next().await.open(&head).await;
        let endless = async { while socket.write_all(piece).await.is_ok() {} };
        tokio::join!(endless, client.failed(1, |_| ()));
    }
}
