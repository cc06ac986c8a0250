//! A server that plays the given bytes, one request a connection, and a client that is driven.

pub(crate) use agentwire_test_support::net::{ACCEPTED, Chance, Received, closed, response, result};
use agentwire_test_support::net::{Driven, is_quiet};
use agentwire_transport_sse::client::{Config, SseError};
use tokio::net::{TcpListener, TcpStream};

/// A client whose two halves are driven by two tasks.
pub(crate) type Client = Driven<SseError>;

/// The beginning of a response that is a stream of events and ends with its connection.
pub(crate) const EVENTS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n";

pub(crate) struct Mock {
    listener: TcpListener,
}

impl Mock {
    pub(crate) async fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.listener.local_addr().unwrap())
    }

    pub(crate) fn config(&self) -> Config {
        Config::new(&format!("{}/v1/sse?x=1", self.origin())).unwrap()
    }

    /// The next request.
    pub(crate) async fn next(&self) -> Received {
        Received::next(&self.listener).await
    }

    /// Whether no request comes for a while.
    pub(crate) async fn is_quiet(&self) -> bool {
        is_quiet(&self.listener).await
    }

    /// Answers the next request, which must be the GET, with a stream.
    pub(crate) async fn stream(&self, begins: &str) -> TcpStream {
        let get = self.next().await;
        assert_eq!(get.method(), "GET");
        assert_eq!(get.header("accept"), Some("text/event-stream"));
        get.open(&format!("{EVENTS}{begins}")).await
    }

    /// A client whose stream is open.
    pub(crate) async fn open(&self) -> (Client, TcpStream) {
        let client = Client::new(self.config().open().unwrap());
        let stream = self.stream("event: endpoint\ndata: /messages?sessionId=s-1\n\n").await;
        (client, stream)
    }
}
