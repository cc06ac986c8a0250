//! The browser login, by raw TCP.

mod attacks;
mod opening;
mod pasting;
#[cfg(all(unix, not(target_os = "macos")))]
mod system;

use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_auth::client::{Browser, LoginError, LoopbackHost, UserAgent as _};
use http::Uri;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const URL: &str = "https://as.example/authorize?client_id=a&state=right";

/// A browser that opens nothing.
fn browser() -> Browser {
    Browser::new().opener(|_| Ok(()))
}

/// A login that runs. Its state is `right`.
struct Login {
    redirect_uri: String,
    port: u16,
    result: JoinHandle<Result<String, LoginError>>,
}

impl Login {
    async fn start(browser: Browser) -> Self {
        let listener = browser.listen().await.unwrap();
        let redirect_uri = listener.redirect_uri();
        let port = redirect_uri.parse::<Uri>().unwrap().port_u16().unwrap();
        let result = tokio::spawn(listener.authorize(URL.parse().unwrap(), "right".into()));
        Self { redirect_uri, port, result }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).await.unwrap()
    }

    /// Sends a request and returns the whole response.
    async fn send(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        response(stream).await
    }

    /// Sends a GET with the right `Host`.
    async fn get(&self, target: &str) -> String {
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port)).await
    }

    /// The query that the login returns, after a redirect.
    async fn finish(self, query: &str) -> String {
        let response = self.get(&format!("/callback?{query}")).await;
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
        self.result.await.unwrap().unwrap()
    }
}

async fn response(mut stream: TcpStream) -> String {
    let mut response = String::new();
    timeout(Duration::from_secs(10), stream.read_to_string(&mut response))
        .await
        .expect("a response in time")
        .unwrap();
    response
}

#[tokio::test]
async fn a_redirect_ends_the_login() {
    let login = Login::start(browser()).await;
    assert_eq!(login.redirect_uri, format!("http://127.0.0.1:{}/callback", login.port));
    let port = login.port;
    let response = login.get("/callback?code=hunter2&state=right&iss=https%3A%2F%2Fas.example").await;
    assert_eq!(login.result.await.unwrap().unwrap(), "code=hunter2&state=right&iss=https%3A%2F%2Fas.example");
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err(), "the port is closed");
    let (head, page) = response.split_once("\r\n\r\n").unwrap();
    for line in [
        "HTTP/1.1 200 OK",
        "Content-Type: text/html; charset=utf-8",
        &format!("Content-Length: {}", page.len()),
        "Cache-Control: no-store",
        "Referrer-Policy: no-referrer",
        "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
        "Connection: close",
    ] {
        assert!(head.split("\r\n").any(|found| found == line), "{line} is missing in {head}");
    }
    for text in ["hunter2", "right", "as.example", "src", "href"] {
        assert!(!page.contains(text), "{page}");
    }
}

#[tokio::test]
async fn an_error_is_returned_as_well() {
    let login = Login::start(browser()).await;
    let query = "error=access_denied&error_description=%3Cscript%3E&state=right";
    assert_eq!(login.finish(query).await, query);
}

#[tokio::test]
async fn a_request_in_pieces_is_read() {
    let login = Login::start(browser()).await;
    let mut stream = login.connect().await;
    let request = format!("GET /callback?state=right HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", login.port);
    for byte in request.as_bytes() {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert!(response(stream).await.starts_with("HTTP/1.1 200 OK"));
    assert_eq!(login.result.await.unwrap().unwrap(), "state=right");
}

#[tokio::test]
async fn the_redirect_uri_is_as_it_is_set() {
    assert_eq!(Browser::new().redirect_uris(), ["http://127.0.0.1/callback"]);
    let named = Browser::new().port(7777).host(LoopbackHost::Localhost).path("/a/b");
    assert_eq!(named.redirect_uris(), ["http://localhost:7777/a/b"]);
    assert_eq!(Browser::new().host(LoopbackHost::Ipv6).redirect_uris(), ["http://[::1]/callback"]);

    let login = Login::start(browser().host(LoopbackHost::Localhost).path("/a/b")).await;
    assert_eq!(login.redirect_uri, format!("http://localhost:{}/a/b", login.port));
    let refused = login.get("/a/b?state=right").await;
    assert!(refused.starts_with("HTTP/1.1 400 "), "the host of the redirect URI is another: {refused}");
    let host = format!("LOCALHOST:{}", login.port);
    let taken = login.send(&format!("GET /a/b?state=right HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
    assert!(taken.starts_with("HTTP/1.1 200 "), "{taken}");
    login.result.await.unwrap().unwrap();
}

/// Where the machine has both addresses, the browser may use either.
#[tokio::test]
async fn localhost_is_both_addresses() {
    let has_ipv6 = std::net::TcpListener::bind("[::1]:0").is_ok();
    let login = Login::start(browser().host(LoopbackHost::Localhost)).await;
    drop(login.connect().await);
    assert_eq!(TcpStream::connect(("::1", login.port)).await.is_ok(), has_ipv6);
    login.result.abort();
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = Browser::new().port(address.port()).listen().await.err().unwrap();
    assert!(matches!(error, LoginError::Unavailable { .. }));
    let text = WithCauses::new(&error).to_string();
    assert!(
        text.starts_with(&format!("no listener for the redirect: cannot listen on {address}: ")),
        "{text}"
    );
}

#[tokio::test]
async fn a_path_that_is_none_is_refused() {
    for path in ["", "callback", "/a b", "/a?b", "/a#b", "/a\r\nb", "/é"] {
        let listening = Browser::new().path(path).listen().await;
        assert!(matches!(listening, Err(LoginError::Unavailable { .. })), "{path}");
    }
}

#[tokio::test]
async fn a_login_ends_in_time() {
    let login = Login::start(browser().timeout(Duration::from_millis(50))).await;
    let error = login.result.await.unwrap().unwrap_err();
    assert!(matches!(error, LoginError::TimedOut { .. }), "{error}");
    assert!(TcpStream::connect(("127.0.0.1", login.port)).await.is_err(), "the port is closed");
}

#[tokio::test]
async fn dropping_a_login_closes_the_port() {
    let listener = browser().listen().await.unwrap();
    let port = listener.redirect_uri().parse::<Uri>().unwrap().port_u16().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_ok(), "it is open before the browser is");
    drop(listener);
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());

    let login = Login::start(browser()).await;
    let mut open = login.connect().await;
    login.result.abort();
    assert!(login.result.await.unwrap_err().is_cancelled());
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
    assert!(matches!(open.read(&mut [0]).await, Ok(0) | Err(_)), "its connections are closed as well");
}
