//! A proxy between the two sides of an HTTP pair. It notes what the client asks, and it can cut connections, as networks
//! do.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::Context as _;
use serde_json::Value;

/// What a report of progress looks like on the wire.
const REPORT: &[u8] = b"notifications/progress";

/// One request of the client's.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// `GET`, `POST` or `DELETE`.
    pub(super) verb: String,
    headers: Vec<(String, String)>,
    /// The message, where there is one.
    pub(super) message: Value,
}

/// Listens until the process ends.
pub(super) struct Proxy {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    server: SocketAddr,
    requests: Mutex<Vec<Request>>,
    /// After how many reports of progress, counted over all connections, the one that brought the last is cut.
    cuts: &'static [usize],
    reports: AtomicUsize,
}

impl Proxy {
    /// Stands in front of the server at `url`.
    pub(super) fn new(url: &str) -> anyhow::Result<Self> {
        Self::cutting(url, &[])
    }

    /// Cuts a connection after this many reports of progress, and again.
    pub(super) fn cutting(url: &str, cuts: &'static [usize]) -> anyhow::Result<Self> {
        let place = url.strip_prefix("http://").context("an http URL")?;
        let (server, path) = place.split_once('/').context("a URL with a path")?;
        let shared = Shared {
            server: server.parse()?,
            requests: Mutex::default(),
            cuts,
            reports: AtomicUsize::default(),
        };
        let shared = Arc::new(shared);
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/{path}", listener.local_addr()?);
        let accepting = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = accepting.clone();
                thread::spawn(move || shared.connect(client));
            }
        });
        Ok(Self { url, shared })
    }

    /// What the client is to connect to.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What was asked until now.
    pub(super) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Shared {
    /// Serves one connection of the client's.
    fn connect(&self, client: TcpStream) -> Result<()> {
        let server = TcpStream::connect(self.server)?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                let _ended = self.upward(&client, &server);
                // The server shall see that nothing more comes.
                let _ = server.shutdown(Shutdown::Write);
            });
            let _ended = self.downward(&server, &client);
            for stream in [&client, &server] {
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
        Ok(())
    }

    /// Passes requests on, each after it is noted.
    fn upward(&self, client: &TcpStream, mut server: &TcpStream) -> Result<()> {
        let mut client = BufReader::new(client);
        while let Some((bytes, request)) = read(&mut client)? {
            self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
            server.write_all(&bytes)?;
        }
        Ok(())
    }

    /// Passes on what the server says, until a cut is due.
    fn downward(&self, mut server: &TcpStream, mut client: &TcpStream) -> Result<()> {
        let (mut buffer, mut tail) = ([0; 16 * 1024], Vec::new());
        loop {
            let count = server.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            client.write_all(&buffer[..count])?;
            tail.extend_from_slice(&buffer[..count]);
            while let Some(at) = tail.windows(REPORT.len()).position(|window| window == REPORT) {
                tail.drain(..at + REPORT.len());
                let reports = self.reports.fetch_add(1, Ordering::Relaxed) + 1;
                if self.cuts.contains(&reports) {
                    return Ok(());
                }
            }
            tail.drain(..tail.len().saturating_sub(REPORT.len()));
        }
    }
}

impl Request {
    /// The value of a header, or nothing.
    pub(super) fn header(&self, name: &str) -> &str {
        let mut found = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        found.next().map_or("", |(_, value)| value)
    }

    /// The method of the message, or nothing.
    pub(super) fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }
}

/// Reads one request, with its bytes as they came; none when the connection is at its end.
fn read(client: &mut impl BufRead) -> Result<Option<(Vec<u8>, Request)>> {
    let mut bytes = Vec::new();
    let Some(first) = line(client, &mut bytes)? else { return Ok(None) };
    let mut headers = Vec::new();
    while let Some(header) = line(client, &mut bytes)?.filter(|header| !header.is_empty()) {
        let (name, value) = header.split_once(':').unwrap_or((&header, ""));
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let verb = first.split(' ').next().unwrap_or_default().to_owned();
    let mut request = Request { verb, headers, message: Value::Null };
    let mut body = Vec::new();
    if request.header("transfer-encoding").contains("chunked") {
        loop {
            let size = line(client, &mut bytes)?.unwrap_or_default();
            let size =
                usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16).unwrap_or_default();
            body.extend(exactly(client, size, &mut bytes)?);
            line(client, &mut bytes)?;
            if size == 0 {
                break;
            }
        }
    } else {
        body = exactly(client, request.header("content-length").parse().unwrap_or_default(), &mut bytes)?;
    }
    request.message = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some((bytes, request)))
}

/// One line without its end; none when there is nothing more.
fn line(client: &mut impl BufRead, bytes: &mut Vec<u8>) -> Result<Option<String>> {
    let begin = bytes.len();
    client.read_until(b'\n', bytes)?;
    let line = String::from_utf8_lossy(&bytes[begin..]).trim_end().to_owned();
    Ok((bytes.len() > begin).then_some(line))
}

fn exactly(client: &mut impl Read, size: usize, bytes: &mut Vec<u8>) -> Result<Vec<u8>> {
    let mut body = vec![0; size];
    client.read_exact(&mut body)?;
    bytes.extend_from_slice(&body);
    Ok(body)
}
