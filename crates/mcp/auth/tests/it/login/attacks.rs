//! The requests of a page or a program of this machine to the port.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Login, browser, response};

#[tokio::test]
async fn other_request_than_the_redirect_is_refused_and_the_wait_goes_on() {
    let login = Login::start(browser()).await;
    let port = login.port;
    for (status, request) in [
        ("400", format!("GET /callback?code=a&state=wrong HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")),
        ("400", format!("GET /callback?code=a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")),
        ("400", format!("GET /callback?state=right&state=wrong HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")),
        ("404", format!("GET /?code=a&state=right HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")),
        ("404", format!("GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")),
        (
            "405",
            format!(
                "POST /callback?state=right HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 1\r\n\r\na"
            ),
        ),
        ("405", format!("OPTIONS /callback?state=right HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")),
        // DNS rebinding: the name of another site resolves to this machine.
        ("400", format!("GET /callback?state=right HTTP/1.1\r\nHost: attacker.example:{port}\r\n\r\n")),
        ("400", "GET /callback?state=right HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".into()),
        ("400", "GET /callback?state=right HTTP/1.1\r\n\r\n".into()),
        ("400", "\u{16}\u{3}\u{1}\r\n\r\n".into()),
        ("431", format!("GET /callback?state=right&{}", "x".repeat(20 << 10))),
    ] {
        let mut stream = login.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let response = response(stream).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {response}");
        for text in ["wrong", "right", "attacker"] {
            assert!(!response.contains(text), "{response}");
        }
    }
    assert_eq!(login.finish("code=b&state=right").await, "code=b&state=right");
}

#[tokio::test]
async fn the_head_is_bounded_at_8_kib() {
    let login = Login::start(browser()).await;
    let request = |length: usize| {
        let (start, end) =
            ("GET /callback?state=right&x=", format!(" HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", login.port));
        format!("{start}{}{end}", "x".repeat(length - start.len() - end.len()))
    };
    let (longest, longer) = (request(8 << 10), request((8 << 10) + 1));
    assert!(login.send(&longer).await.starts_with("HTTP/1.1 431 "));
    assert!(login.send(&longest).await.starts_with("HTTP/1.1 200 "));
    login.result.await.unwrap().unwrap();
}

#[tokio::test]
async fn silent_connections_do_not_hold_the_login_up() {
    let login = Login::start(browser()).await;
    let mut silent = Vec::new();
    for n in 0..200 {
        let mut stream = login.connect().await;
        if n % 2 == 0 {
            stream.write_all(b"GET /callback?state=ri").await.unwrap();
        }
        silent.push(stream);
    }
    let began = Instant::now();
    // The oldest ones were closed for the newer ones.
    assert!(matches!(silent[0].read(&mut [0]).await, Ok(0) | Err(_)));
    assert_eq!(login.finish("state=right").await, "state=right");
    // A silent connection that held it up would do so for 10 s, the time of a connection.
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_does_not_hold_the_login_up() {
    let login = Login::start(browser()).await;
    let port = login.port;
    let flood: Vec<_> = (0..8)
        .map(|_| {
            tokio::spawn(async move {
                let mut held = std::collections::VecDeque::new();
                while let Ok(stream) = tokio::net::TcpStream::connect(("127.0.0.1", port)).await {
                    held.push_back(stream);
                    if held.len() > 32 {
                        held.pop_front();
                    }
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(login.finish("state=right").await, "state=right");
    for flooding in flood {
        flooding.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_closed_after_ten_seconds() {
    let login = Login::start(browser()).await;
    let mut silent = login.connect().await;
    let began = tokio::time::Instant::now();
    assert!(matches!(silent.read(&mut [0]).await, Ok(0) | Err(_)));
    let waited = began.elapsed();
    assert!((Duration::from_secs(9)..Duration::from_secs(12)).contains(&waited), "{waited:?}");
    login.result.abort();
}

/// The answer is not awaited for long: who reads it slowly does not hold the login up, and only one redirect is taken.
#[tokio::test]
async fn one_redirect_is_taken() {
    let login = Login::start(browser()).await;
    let request = |code| {
        format!("GET /callback?code={code}&state=right HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", login.port)
    };
    let (mut first, mut second) = (login.connect().await, login.connect().await);
    first.write_all(request("a").as_bytes()).await.unwrap();
    second.write_all(request("b").as_bytes()).await.unwrap();
    let query = login.result.await.unwrap().unwrap();
    assert!(["code=a&state=right", "code=b&state=right"].contains(&&*query), "{query}");
    let mut taken = 0;
    for mut stream in [first, second] {
        let mut response = String::new();
        let _ = stream.read_to_string(&mut response).await;
        taken += usize::from(response.starts_with("HTTP/1.1 200 "));
    }
    assert_eq!(taken, 1);
}
