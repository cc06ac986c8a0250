//! A proxy between the two sides of an HTTP pair. It records the requests, and it can cut connections, as networks do.

use std::io::{BufReader, Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use agentwire_test_support::http::Message;
use anyhow::Context as _;
use serde_json::Value;

/// The bytes by which a progress notification is found.
const PROGRESS: &[u8] = b"notifications/progress";

/// One request of the client's.
#[derive(Clone, Debug)]
pub(super) struct Request {
    http: Message,
    /// The JSON-RPC message of the body; null if it has none.
    pub(super) message: Value,
}

/// A proxy, which listens until the process ends.
pub(super) struct Proxy {
    url: String,
    relay: Arc<Relay>,
}

struct Relay {
    server: SocketAddr,
    requests: Mutex<Vec<Request>>,
    /// The numbers of progress notifications, over all connections, after which the current connection is cut.
    cuts: &'static [usize],
    progress: AtomicUsize,
}

impl Proxy {
    /// A proxy in front of the server at `url`.
    pub(super) fn new(url: &str) -> anyhow::Result<Self> {
        Self::cutting(url, &[])
    }

    /// The same, cutting a connection after each of these numbers of progress notifications.
    pub(super) fn cutting(url: &str, cuts: &'static [usize]) -> anyhow::Result<Self> {
        let address = url.strip_prefix("http://").context("an http URL")?;
        let (server, path) = address.split_once('/').context("a URL with a path")?;
        let relay = Relay {
            server: server.parse()?,
            requests: Mutex::default(),
            cuts,
            progress: AtomicUsize::default(),
        };
        let relay = Arc::new(relay);
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/{path}", listener.local_addr()?);
        let accepting = relay.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let relay = accepting.clone();
                thread::spawn(move || relay.connect(client));
            }
        });
        Ok(Self { url, relay })
    }

    /// The URL for the client.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The requests so far.
    pub(super) fn requests(&self) -> Vec<Request> {
        self.relay.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Relay {
    /// Serves one connection of the client's.
    fn connect(&self, client: TcpStream) -> Result<()> {
        let server = TcpStream::connect(self.server)?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                let _ended = self.upward(&client, &server);
                // The server must see the end of the requests.
                let _ = server.shutdown(Shutdown::Write);
            });
            let _ended = self.downward(&server, &client);
            for stream in [&client, &server] {
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
        Ok(())
    }

    /// Records the requests and passes them on.
    fn upward(&self, client: &TcpStream, mut server: &TcpStream) -> Result<()> {
        let mut client = BufReader::new(client);
        while let Some(http) = Message::request(&mut client)? {
            let bytes = http.bytes.clone();
            let request = Request { message: serde_json::from_slice(&http.body).unwrap_or_default(), http };
            self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
            server.write_all(&bytes)?;
        }
        Ok(())
    }

    /// Passes the server's bytes on, until a cut is due.
    fn downward(&self, mut server: &TcpStream, mut client: &TcpStream) -> Result<()> {
        let (mut buffer, mut tail) = ([0; 16 * 1024], Vec::new());
        loop {
            let count = server.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            client.write_all(&buffer[..count])?;
            tail.extend_from_slice(&buffer[..count]);
            while let Some(at) = tail.windows(PROGRESS.len()).position(|window| window == PROGRESS) {
                tail.drain(..at + PROGRESS.len());
                let count = self.progress.fetch_add(1, Ordering::Relaxed) + 1;
                if self.cuts.contains(&count) {
                    return Ok(());
                }
            }
            tail.drain(..tail.len().saturating_sub(PROGRESS.len()));
        }
    }
}

impl Request {
    /// The method of the message, or nothing.
    pub(super) fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    /// `GET`, `POST` or `DELETE`.
    pub(super) fn verb(&self) -> &str {
        self.http.method()
    }

    /// The value of a header, or nothing.
    pub(super) fn header(&self, name: &str) -> &str {
        self.http.header(name)
    }
}
