//! The URLs that are opened, and those that are not.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_auth::client::{Browser, LoginError, UserAgent as _};
use tokio::net::TcpStream;

use super::{Login, URL, browser};

/// A browser that notes what it should open.
fn noting() -> (Browser, Arc<Mutex<Vec<String>>>) {
    let opened = Arc::new(Mutex::new(Vec::new()));
    let (one, other) = (Arc::clone(&opened), Arc::clone(&opened));
    let shown = move |url: &str| one.lock().unwrap().push(format!("shown {url}"));
    let open = move |url: &str| {
        other.lock().unwrap().push(format!("opened {url}"));
        Ok(())
    };
    (Browser::new().on_url(shown).opener(open), opened)
}

#[tokio::test]
async fn the_url_is_shown_and_opened() {
    let (browser, opened) = noting();
    let login = Login::start(browser).await;
    login.finish("state=right").await;
    assert_eq!(*opened.lock().unwrap(), [format!("shown {URL}"), format!("opened {URL}")]);
}

#[tokio::test]
async fn only_plain_urls_are_opened() {
    for url in [
        "http://as.example/authorize",
        "ftp://as.example/authorize",
        "file://as.example/etc/passwd",
        "javascript://as.example/%0aalert(1)",
        "https://user@as.example/authorize",
        "https://user:pass@as.example/authorize",
        "/authorize",
        "as.example:443",
        "https://as.example/'",
        "https://as.example/\"",
        "https://as.example/`id`",
        "https://as.example/$(id)",
        "https://as.example/a|b",
        "https://as.example/a?{b}",
        "https://as.example/é",
    ] {
        let (browser, opened) = noting();
        let Ok(uri) = url.parse() else { continue };
        let listener = browser.timeout(Duration::from_secs(2)).listen().await.unwrap();
        let port = listener.redirect_uri().parse::<http::Uri>().unwrap().port_u16().unwrap();
        let error = listener.authorize(uri, "right".into()).await.unwrap_err();
        assert!(matches!(error, LoginError::Scheme { .. } | LoginError::Url { .. }), "{url}: {error}");
        assert!(opened.lock().unwrap().is_empty(), "{url}");
        assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err(), "{url}: the port is closed");
    }
    let (browser, _) = noting();
    let listener = browser.listen().await.unwrap();
    let error = listener.authorize("ftp://as.example".parse().unwrap(), "right".into()).await.unwrap_err();
    assert_eq!(error.to_string(), "not opening a URL of the scheme `ftp`");
}

#[tokio::test]
async fn this_machine_may_have_http() {
    for url in [
        "http://127.0.0.1:9/a?b=%20&c=[]",
        "http://localhost/a",
        "http://[::1]/a",
        "https://as.example/~a;b=*,!+@:",
    ] {
        let (browser, opened) = noting();
        let listener = browser.timeout(Duration::from_millis(20)).listen().await.unwrap();
        let error = listener.authorize(url.parse().unwrap(), "right".into()).await.unwrap_err();
        assert!(matches!(error, LoginError::TimedOut { .. }), "{url}: {error}");
        assert_eq!(opened.lock().unwrap()[1], format!("opened {url}"));
    }
}

#[tokio::test]
async fn without_a_browser_the_login_goes_on_only_if_the_url_is_shown() {
    let missing = |_: &str| Err(io::Error::other("there is none"));
    let login = Login::start(Browser::new().opener(missing)).await;
    let error = login.result.await.unwrap().unwrap_err();
    assert_eq!(WithCauses::new(&error).to_string(), "no browser: there is none");
    assert!(matches!(error, LoginError::Unavailable { .. }));
    assert!(TcpStream::connect(("127.0.0.1", login.port)).await.is_err(), "the port is closed");

    let login = Login::start(Browser::new().opener(missing).on_url(|_| {})).await;
    assert_eq!(login.finish("state=right").await, "state=right");
}

#[tokio::test]
async fn debug_shows_settings_only() {
    let debug = format!("{:?}", browser().port(7777));
    assert!(
        debug.starts_with("Browser { port: 7777, host: Ipv4, path: \"/callback\", timeout: 300s"),
        "{debug}"
    );
}
