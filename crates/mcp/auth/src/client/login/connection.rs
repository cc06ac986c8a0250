//! One connection of the listener: a request and its answer.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::request::{Expected, Status, Verdict};

/// How long the head of a request may be.
const HEAD_LIMIT: usize = 8 << 10;

/// How long a connection may take in all.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the answer to the redirect may take. The login does not wait longer for a slow reader.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// How many bytes are read after a refusal, so that closing does not cut its answer off.
const DRAIN_LIMIT: u64 = 64 << 10;

/// The redirect, whose answer is not written yet.
pub(super) struct Redirect {
    stream: TcpStream,
    query: String,
}

impl Redirect {
    /// Answers, and returns the query.
    pub(super) async fn answer(self) -> String {
        let Self { mut stream, query } = self;
        let response = Verdict::Redirect(String::new()).response();
        let _ = timeout(ANSWER_TIMEOUT, write(&mut stream, &response)).await;
        query
    }
}

/// Reads one request. Anything but the redirect is answered here, and is `None`.
pub(super) async fn serve(mut stream: TcpStream, expected: &Expected) -> Option<Redirect> {
    let served = async {
        let verdict = match read_head(&mut stream).await.ok()? {
            Some(head) => expected.judge(&head),
            None => Verdict::Refused(Status::HeadTooLong),
        };
        if let Verdict::Redirect(query) = verdict {
            return Some(query);
        }
        write(&mut stream, &verdict.response()).await.ok()?;
        let _ = tokio::io::copy(&mut (&mut stream).take(DRAIN_LIMIT), &mut tokio::io::sink()).await;
        None
    };
    let query = timeout(CONNECTION_TIMEOUT, served).await.ok()??;
    Some(Redirect { stream, query })
}

/// Reads up to the empty line, which is left out; `None` if it does not come within the limit.
async fn read_head(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::with_capacity(1 << 10);
    let mut from = 0;
    loop {
        if let Some(end) = head[from..].windows(4).position(|window| window == b"\r\n\r\n") {
            head.truncate(from + end);
            return Ok(Some(head));
        }
        if head.len() >= HEAD_LIMIT {
            return Ok(None);
        }
        from = head.len().saturating_sub(3);
        let rest = (HEAD_LIMIT - head.len()) as u64;
        if (&mut *stream).take(rest).read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

async fn write(stream: &mut TcpStream, response: &str) -> io::Result<()> {
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}
