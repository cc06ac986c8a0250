//! A server that plays the given bytes, one request a connection, and a client that is driven.

use std::time::Duration;

pub(crate) use agentwire_test_support::net::{
    ACCEPTED, Chance, EVENTS, QUIET, Received, closed, patiently, response, result,
};
use agentwire_test_support::net::{Driven, PATIENCE, is_quiet};
use agentwire_transport_http::client::{Config, Http, HttpError};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A client whose two halves are driven by two tasks.
pub(crate) type Client = Driven<HttpError>;

/// Set where the tests are to use `Hyper`, although there is `Reqwest` too.
#[cfg(any(feature = "rustls", feature = "rustls-ring"))]
pub(crate) const HYPER: &str = "AGENTWIRE_TEST_HYPER";

/// A transport that uses the client that is tested.
pub(crate) fn open(config: Config) -> Http {
    open_within(config, PATIENCE)
}

/// The same with a limit for the time that a connection takes.
pub(crate) fn open_within(config: Config, connect_timeout: Duration) -> Http {
    #[cfg(any(feature = "rustls", feature = "rustls-ring"))]
    if std::env::var_os(HYPER).is_some() {
        let hyper = agentwire_transport_http::client::Hyper::new(connect_timeout).unwrap();
        return config.open_with(hyper);
    }
    config.connect_timeout(connect_timeout).open().unwrap()
}

pub(crate) struct Mock {
    listener: TcpListener,
}

impl Mock {
    pub(crate) async fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.listener.local_addr().unwrap())
    }

    /// The settings for this server, with waits that suit a test.
    pub(crate) fn config(&self) -> Config {
        Config::new(&self.url()).unwrap().retry_delay(Duration::from_millis(10))
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(open(self.config()))
    }

    /// The next request.
    pub(crate) async fn next(&self) -> Received {
        Received::next(&self.listener).await
    }

    /// Whether no request comes for a while.
    pub(crate) async fn is_quiet(&self) -> bool {
        is_quiet(&self.listener).await
    }

    /// Takes part in a handshake: the session id, if `session` has one, and a refused GET.
    pub(crate) async fn handshake(&self, client: &mut Client, session: Option<&str>, version: &str) {
        client.say(json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        }));
        let header = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let result = json!({"protocolVersion": version, "capabilities": {}});
        let request = self.next().await;
        assert_eq!(request.json()["method"], "initialize");
        request.finish(&ok(&header, &json!({"jsonrpc": "2.0", "id": 0, "result": result}))).await;
        client.frame().await;
        client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let request = self.next().await;
        assert_eq!(request.json()["method"], "notifications/initialized");
        request.finish(ACCEPTED).await;
    }

    /// A whole handshake, without a stream for the session.
    pub(crate) async fn session(&self, client: &mut Client) {
        self.handshake(client, Some("s-1"), "2025-11-25").await;
        let get = self.next().await;
        assert_eq!(get.method(), "GET");
        get.finish(&status("405 Method Not Allowed")).await;
        client.stream_ended(|error| assert_eq!(error.status().unwrap(), 405)).await;
    }
}

pub(crate) fn ok(headers: &str, body: &Value) -> String {
    response("200 OK", &format!("Content-Type: application/json\r\n{headers}"), &body.to_string())
}

pub(crate) fn status(status: &str) -> String {
    response(status, "", "")
}

pub(crate) fn event(fields: &str, message: &Value) -> String {
    format!("{fields}data: {message}\n\n")
}
