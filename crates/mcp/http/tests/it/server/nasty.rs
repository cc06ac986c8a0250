//! Legal but nasty input, and some that is not legal.

use std::time::Duration;

use agentwire_transport_http::server::EndpointConfig;
use futures::{FutureExt, StreamExt};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::modern::{VERSION, modern};
use super::raw::{Raw, parse_events};
use super::script::{Heard, Server, initialize, notification, request};

const HEAD: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

#[tokio::test]
async fn a_body_may_come_in_chunks_cut_anywhere() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-06-18").await;
    let body = request(1, "echo", json!({"text": "😀 é"}));
    let head = format!("{HEAD}Mcp-Session-Id: {}\r\nTransfer-Encoding: chunked\r\n\r\n", client.session);
    for size in [1, 7, body.len()] {
        let mut raw = server.raw().await;
        raw.write(head.as_bytes()).await;
        for chunk in body.as_bytes().chunks(size) {
            raw.write(format!("{:x};ext=1\r\n", chunk.len()).as_bytes()).await;
            for byte in chunk {
                raw.write(&[*byte]).await;
            }
            raw.write(b"\r\n").await;
        }
        raw.write(b"0\r\nTrailer: x\r\n\r\n").await;
        let head = raw.head().await;
        let answer = parse_events(&raw.body(&head).await).pop().unwrap().json();
        assert_eq!(answer["result"]["text"], "😀 é");
        // The connection goes on.
        let (head, _) = raw.exchange("POST", &client.headers(), &notification("x")).await;
        assert_eq!(head.status, 202);
    }
}

#[tokio::test]
async fn the_body_is_asked_for_only_if_it_is_wanted() {
    let server = Server::inline(EndpointConfig::new().body_limit(1000)).await;
    let body = initialize("2025-11-25");
    let mut raw = server.raw().await;
    raw.write(format!("{HEAD}Expect: 100-continue\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes())
        .await;
    assert_eq!(raw.head().await.status, 100);
    raw.write(body.as_bytes()).await;
    assert_eq!(raw.head().await.status, 200);

    let mut raw = server.raw().await;
    raw.write(format!("{HEAD}Expect: 100-continue\r\nContent-Length: 536870912\r\n\r\n").as_bytes()).await;
    let head = raw.head().await;
    assert_eq!(head.status, 413);
    assert!(raw.body(&head).await.contains("limit of 1000 bytes"));
}

#[tokio::test]
async fn a_body_without_an_end_is_refused_at_the_limit() {
    let server = Server::inline(EndpointConfig::new().body_limit(100_000)).await;
    let mut raw = server.raw().await;
    raw.write(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).await;
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(0x1000));
    let mut sent = 0;
    // The server answers and closes the connection, and the one or the other is noticed first.
    let mut byte = [0];
    while raw.stream.write_all(chunk.as_bytes()).await.is_ok() && raw.stream.try_read(&mut byte).is_err() {
        sent += 1;
        assert!(sent < 1000, "4 MB were taken");
        tokio::task::yield_now().await;
    }
    assert!(sent > 20, "refused before the limit: {sent}");
}

#[tokio::test]
async fn slow_heads_and_silent_connections_are_closed() {
    let limit = Duration::from_millis(500);
    let server = Server::inline_with(EndpointConfig::new(), |serve| serve.header_timeout(limit)).await;
    let mut silent = server.raw().await;
    assert_eq!(silent.read().await, 0, "a connection on which nothing is said is closed");
    let mut slow = server.raw().await;
    let mut head = HEAD.bytes().cycle();
    loop {
        let drop_by_drop = slow.stream.write_all(&[head.next().unwrap()]).await;
        if drop_by_drop.is_err() {
            break;
        }
        let mut byte = [0];
        match tokio::time::timeout(Duration::from_millis(10), slow.stream.readable()).await {
            Ok(_) if matches!(slow.stream.try_read(&mut byte), Ok(0 | 1)) => break,
            _ => {}
        }
    }
    assert_eq!(server.exchange("POST", &[], &initialize("2025-11-25")).await.0, 200);
}

/// The time for a head begins with the end of the response before it; an answer may take longer.
#[tokio::test]
async fn a_connection_is_kept_so_long_between_requests() {
    // Half of it is left for each request on a busy machine.
    let limit = Duration::from_secs(1);
    let mut server = Server::inline_with(EndpointConfig::new(), |serve| serve.header_timeout(limit)).await;
    let client = server.open("2025-11-25").await;
    let mut raw = server.raw().await;
    let headers = [("Mcp-Session-Id", client.session.as_str())];
    for id in 0..3 {
        let (head, _) = raw.exchange("POST", &headers, &request(id, "echo", json!({}))).await;
        assert_eq!(head.status, 200);
        tokio::time::sleep(limit / 2).await;
    }
    raw.send("POST", &[VERSION, ("Mcp-Method", "wait")], &modern(1, "wait", json!({}))).await;
    server.hears(&Heard::Message("wait".to_owned())).await;
    assert!(tokio::time::timeout(2 * limit, raw.read()).await.is_err(), "cut while it waits for its answer");
    let mut idle = server.raw().await;
    let begun = std::time::Instant::now();
    idle.exchange("POST", &headers, &request(4, "echo", json!({}))).await;
    assert_eq!(idle.read().await, 0);
    assert!(begun.elapsed() >= limit, "{:?}", begun.elapsed());
    let mut done = server.raw().await;
    done.exchange("POST", &headers, &request(5, "echo", json!({}))).await;
    done.stream.shutdown().await.unwrap();
    assert_eq!(done.read().await, 0);
}

#[tokio::test]
async fn slow_bodies_are_refused() {
    let server = Server::inline(EndpointConfig::new().body_timeout(Duration::from_millis(100))).await;
    let mut raw = server.raw().await;
    raw.write(format!("{HEAD}Content-Length: 1000\r\n\r\n{{").as_bytes()).await;
    // A drop now and then makes it no faster.
    let dripping = async {
        let mut drops = 0;
        while raw.stream.try_write(b" ").is_ok() && drops < 1000 {
            drops += 1;
            let pause = tokio::time::timeout(Duration::from_millis(10), raw.stream.readable());
            if pause.await.is_ok() {
                break;
            }
        }
        drops
    };
    let drops = dripping.await;
    assert!(drops < 100, "{drops}");
    let head = raw.head().await;
    assert_eq!(head.status, 408);
    assert!(raw.body(&head).await.contains("limit of 100ms"));
}

/// A client that closes its half has left: that of a modern request cancels it, in a session nothing is
/// lost.
#[tokio::test]
async fn half_closed_sockets_are_closed() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let mut raw = server.raw().await;
    raw.send("POST", &[VERSION, ("Mcp-Method", "wait")], &modern(1, "wait", json!({}))).await;
    server.hears(&Heard::Message("wait".to_owned())).await;
    raw.stream.shutdown().await.unwrap();
    server.hears(&Heard::Ended).await;
    assert_eq!(raw.read().await, 0);

    let client = server.open("2025-11-25").await;
    let mut call = client.call(&request(5, "wait", json!({}))).await;
    let first = call.next().await.unwrap();
    call.raw.stream.shutdown().await.unwrap();
    assert_eq!(call.next().await, None);
    client.post(&notification("finish")).await;
    let mut resumed = client.resume(first.id.as_deref()).await.unwrap();
    assert_eq!(resumed.next().await.unwrap().json()["result"], "late");
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_up_only_itself() {
    let mut server = Server::inline(EndpointConfig::new().event_store(None)).await;
    let session = server.open("2025-11-25").await.session;
    let mut lazy = server.raw().await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    lazy.send("POST", &headers, &request(1, "flood", json!({"n": 50_000}))).await;
    server.hears(&Heard::Sent(100)).await;
    let others = async {
        let other = server.open("2025-11-25").await;
        for id in 0..20 {
            assert_eq!(other.post(&request(id, "echo", json!({}))).await.0, 200);
        }
    };
    others.await;
    let mut sent = 0;
    while let Ok(heard) = server.heard.try_recv() {
        if let Heard::Sent(at) = heard {
            sent = at;
        }
    }
    // What fits into the buffers of two sockets and the high-water mark, of 50 MB.
    assert!(sent < 20_000, "{sent} messages were taken, and nobody read them");
}

/// When its time is over, it is cut, and the handler goes on.
#[tokio::test]
async fn a_client_that_does_not_read_is_cut() {
    let limit = Duration::from_millis(400);
    let config = EndpointConfig::new().stall(limit).event_store(None);
    let mut server = Server::inline_with(config, |serve| serve.write_timeout(limit)).await;
    let session = server.open("2025-11-25").await.session;
    let mut lazy = server.raw().await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    lazy.send("POST", &headers, &request(1, "flood", json!({"n": 50_000}))).await;
    server.hears(&Heard::Sent(50_000)).await;
    while lazy.read().await > 0 {}
    assert_eq!(server.exchange("POST", &headers, &notification("x")).await.0, 202, "its session goes on");
}

/// Also one that does not read what is sent to it.
#[tokio::test]
async fn a_client_that_leaves_is_missed_while_it_reads_nothing() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let mut lazy = server.raw().await;
    let headers = [VERSION, ("Mcp-Method", "flood")];
    lazy.send("POST", &headers, &modern(1, "flood", json!({"n": 50_000}))).await;
    server.hears(&Heard::Sent(3000)).await;
    while let Ok(Some(_)) = tokio::time::timeout(Duration::from_millis(300), server.heard.next()).await {}
    lazy.stream.shutdown().await.unwrap();
    server.hears(&Heard::Ended).await;
}

#[tokio::test]
async fn connections_that_are_cut_in_the_middle_leave_nothing_behind() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let port = server.port;
    let session = server.open("2025-11-25").await.session;
    let body = request(1, "count", json!({"n": 100}));
    let whole = format!("{HEAD}Mcp-Session-Id: {session}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for cut in (0..whole.len()).step_by(13) {
        let mut raw = Raw::mcp(port).await;
        raw.write(&whole.as_bytes()[..cut]).await;
        if cut % 2 == 0 {
            // Closed in one direction only, which a client does that wants no answer.
            raw.stream.shutdown().await.unwrap();
        }
        raw.reset();
    }
    while server.heard.try_recv().is_ok() {}
    let headers = [("Mcp-Session-Id", session.as_str())];
    assert_eq!(server.exchange("POST", &headers, &body).await.0, 200);
    server.hears(&Heard::Message("count".to_owned())).await;
}

#[tokio::test]
async fn requests_may_stand_one_after_the_other() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-06-18").await;
    let mut raw = server.raw().await;
    for id in 0..3 {
        raw.send("POST", &client.headers(), &request(id, "echo", json!({}))).await;
    }
    for id in 0..3 {
        let head = raw.head().await;
        let answer = parse_events(&raw.body(&head).await).pop().unwrap().json();
        assert_eq!(answer["id"], id);
    }
}

#[tokio::test]
async fn shutdown_answers_unfinished_requests_with_an_error() {
    let (stop, stopped) = futures::channel::oneshot::channel::<()>();
    let mut server = Server::inline_with(EndpointConfig::new(), |serve| {
        serve.grace(Duration::from_millis(300)).shutdown(stopped.map(|_| ()))
    })
    .await;
    let (mut listening, mut call) = {
        let client = server.open("2025-11-25").await;
        let mut listening = client.get().await;
        listening.next().await.unwrap();
        let mut call = client.call(&request(5, "wait", json!({}))).await;
        call.next().await.unwrap();
        (listening, call)
    };
    stop.send(()).unwrap();
    let error = call.next().await.unwrap().json();
    assert!(error["error"]["message"].as_str().unwrap().contains("shutting down"), "{error}");
    assert_eq!(call.next().await, None);
    assert_eq!(listening.next().await, None);
    server.hears(&Heard::Ended).await;
    for task in server.tasks {
        tokio::time::timeout(Duration::from_secs(10), task).await.expect("it ends").unwrap();
    }
    assert!(tokio::net::TcpStream::connect(("127.0.0.1", server.port)).await.is_err());
}
